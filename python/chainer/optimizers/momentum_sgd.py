"""Stochastic gradient descent with momentum."""

from __future__ import annotations

from chainer import optimizer
from chainer._optim.hyperparameter import FINITE
from chainer.optimizers._declare import declare, hyper
from chainer.optimizers._rule import FormulaRule


@declare
class MomentumSGD(optimizer.GradientMethod):
    """Stochastic gradient descent with momentum."""

    lr: float = hyper('Learning rate.', default=0.01, limits=FINITE)
    momentum: float = hyper('Share of the velocity that a step keeps.', default=0.9, limits=FINITE)


class MomentumSGDRule(FormulaRule, of=MomentumSGD):
    """Update rule of `MomentumSGD`: ``v = momentum * v - lr * g; p += v``."""

    fused = 'momentum_sgd'

    @staticmethod
    def step(xp, p, g, lr, momentum, *, v) -> None:
        v *= momentum
        v -= lr * g
        p += v
