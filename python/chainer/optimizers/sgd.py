"""Stochastic gradient descent."""

from __future__ import annotations

import typing as tp

from chainer import optimizer
from chainer._optim.hyperparameter import FINITE, Hyperparameter, HyperparameterProxy, defaults
from chainer.optimizers._rule import FormulaRule, as_float

_default_hyperparam = defaults(
    'SGD',
    lr=(0.01, FINITE),
)


class SGDRule(FormulaRule):
    """Update rule of `SGD`: ``p -= lr * g``.

    See :class:`chainer.optimizers.SGD` for the arguments.
    """

    fused = 'sgd'

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam or _default_hyperparam, lr=lr)

    def _numbers(self) -> tuple[float, ...]:
        return as_float(self.hyperparam, 'lr')

    @staticmethod
    def step(xp: tp.Any, p: tp.Any, g: tp.Any, lr: float) -> None:
        p -= lr * g


class SGD(optimizer.GradientMethod):
    """Stochastic gradient descent, the plain one.

    Args:
        lr (float): Learning rate.
    """

    _limits = _default_hyperparam._limits[1]

    def __init__(
        self,
        lr: float = _default_hyperparam.lr,
    ) -> None:
        super().__init__()
        self.hyperparam.lr = lr

    lr = HyperparameterProxy('lr')

    def create_update_rule(self) -> SGDRule:
        """Makes a rule for one parameter."""
        return SGDRule(self.hyperparam)
