"""Stochastic gradient descent with momentum."""

from __future__ import annotations

import typing as tp

from chainer import optimizer
from chainer._optim.hyperparameter import FINITE, Hyperparameter, HyperparameterProxy, defaults
from chainer.optimizers._rule import FormulaRule, as_float

_default_hyperparam = defaults(
    'MomentumSGD',
    lr=(0.01, FINITE),
    momentum=(0.9, FINITE),
)


class MomentumSGDRule(FormulaRule):
    """Update rule of `MomentumSGD`: ``v = momentum * v - lr * g; p += v``.

    See :class:`chainer.optimizers.MomentumSGD` for the arguments.
    """

    fused = 'momentum_sgd'
    fused_states = ('v',)

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        momentum: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam or _default_hyperparam, lr=lr, momentum=momentum)

    def _numbers(self) -> tuple[float, ...]:
        return as_float(self.hyperparam, 'lr', 'momentum')

    @staticmethod
    def step(xp: tp.Any, p: tp.Any, g: tp.Any, v: tp.Any, lr: float, momentum: float) -> None:
        v *= momentum
        v -= lr * g
        p += v


class MomentumSGD(optimizer.GradientMethod):
    """Stochastic gradient descent with momentum.

    Args:
        lr (float): Learning rate.
        momentum (float): How much of the velocity is left after a step.
    """

    _limits = _default_hyperparam._limits[1]

    def __init__(
        self,
        lr: float = _default_hyperparam.lr,
        momentum: float = _default_hyperparam.momentum,
    ) -> None:
        super().__init__()
        self.hyperparam.lr = lr
        self.hyperparam.momentum = momentum

    lr = HyperparameterProxy('lr')
    momentum = HyperparameterProxy('momentum')

    def create_update_rule(self) -> MomentumSGDRule:
        """Makes a rule for one parameter."""
        return MomentumSGDRule(self.hyperparam)
