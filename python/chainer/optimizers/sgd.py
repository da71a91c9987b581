"""Stochastic gradient descent."""

from __future__ import annotations

from chainer import optimizer
from chainer._optim.hyperparameter import FINITE
from chainer.optimizers._declare import declare, hyper
from chainer.optimizers._rule import FormulaRule


@declare
class SGD(optimizer.GradientMethod):
    """Stochastic gradient descent, the plain one."""

    lr: float = hyper('Learning rate.', default=0.01, limits=FINITE)


class SGDRule(FormulaRule, of=SGD):
    """Update rule of `SGD`: ``p -= lr * g``."""

    fused = 'sgd'

    @staticmethod
    def step(xp, p, g, lr) -> None:
        p -= lr * g
