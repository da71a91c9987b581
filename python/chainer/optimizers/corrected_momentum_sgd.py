"""Stochastic gradient descent with momentum, apart from the learning rate."""

from __future__ import annotations

from chainer import optimizer
from chainer._optim.hyperparameter import FINITE
from chainer.optimizers._declare import declare, hyper
from chainer.optimizers._rule import FormulaRule


@declare
class CorrectedMomentumSGD(optimizer.GradientMethod):
    """Stochastic gradient descent with momentum that a change of ``lr`` acts on at once.

    Source: Goyal et al., arXiv:1706.02677, section 3.
    """

    lr: float = hyper('Learning rate.', default=0.01, limits=FINITE)
    momentum: float = hyper('Share of the velocity that a step keeps.', default=0.9, limits=FINITE)


class CorrectedMomentumSGDRule(FormulaRule, of=CorrectedMomentumSGD):
    """Update rule of `CorrectedMomentumSGD`: ``v = momentum * v - g; p += lr * v``."""

    fused = 'corrected_momentum_sgd'

    @staticmethod
    def step(xp, p, g, lr, momentum, *, v) -> None:
        v *= momentum
        v -= g
        p += lr * v
