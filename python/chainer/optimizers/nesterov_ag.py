"""Nesterov's accelerated gradient."""

from __future__ import annotations

from chainer import optimizer
from chainer._optim.hyperparameter import FINITE
from chainer.optimizers._declare import declare, hyper
from chainer.optimizers._rule import FormulaRule


@declare
class NesterovAG(optimizer.GradientMethod):
    """Nesterov's accelerated gradient.

    Source: Bengio et al., arXiv:1212.0901.
    """

    lr: float = hyper('Learning rate.', default=0.01, limits=FINITE)
    momentum: float = hyper('Share of the velocity that a step keeps.', default=0.9, limits=FINITE)


class NesterovAGRule(FormulaRule, of=NesterovAG):
    """Update rule of `NesterovAG`: the gradient is taken where the momentum leads."""

    fused = 'nesterov_ag'

    @staticmethod
    def step(xp, p, g, lr, momentum, *, v) -> None:
        v *= momentum
        v -= lr * g
        p += momentum * momentum * v
        p -= (1 + momentum) * lr * g
