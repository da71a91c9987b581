"""RMSprop as Graves has it."""

from __future__ import annotations

from chainer import optimizer
from chainer._optim.hyperparameter import FINITE, FRACTION, NON_NEGATIVE
from chainer.optimizers._declare import declare, hyper
from chainer.optimizers._rule import FormulaRule


@declare
class RMSpropGraves(optimizer.GradientMethod):
    """RMSprop as Graves has it: with centred squares and momentum.

    Source: Graves, arXiv:1308.0850.
    """

    lr: float = hyper('Learning rate.', default=0.0001, limits=FINITE)
    alpha: float = hyper('Decay of the averages.', default=0.95, limits=FRACTION)
    momentum: float = hyper('Share of the velocity that a step keeps.', default=0.9, limits=FINITE)
    eps: float = hyper('Keeps the denominator from 0.', default=0.0001, limits=NON_NEGATIVE)


class RMSpropGravesRule(FormulaRule, of=RMSpropGraves):
    """Update rule of `RMSpropGraves`: RMSprop with centred squares and momentum."""

    fused = 'rmsprop_graves'

    @staticmethod
    def step(xp, p, grad, lr, alpha, momentum, eps, *, n, g, delta) -> None:
        n *= alpha
        n += (1 - alpha) * grad * grad
        g *= alpha
        g += (1 - alpha) * grad
        delta *= momentum
        delta -= lr * grad / xp.sqrt(n - g * g + eps)
        p += delta
