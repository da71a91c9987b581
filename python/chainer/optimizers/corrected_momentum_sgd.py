"""Stochastic gradient descent with momentum, apart from the learning rate."""

from __future__ import annotations

import typing as tp

from chainer import optimizer
from chainer._optim.hyperparameter import FINITE, Hyperparameter, HyperparameterProxy, defaults
from chainer.optimizers._rule import FormulaRule, as_float

_default_hyperparam = defaults(
    'CorrectedMomentumSGD',
    lr=(0.01, FINITE),
    momentum=(0.9, FINITE),
)


class CorrectedMomentumSGDRule(FormulaRule):
    """Update rule of `CorrectedMomentumSGD`: ``v = momentum * v - g; p += lr * v``.

    See :class:`chainer.optimizers.CorrectedMomentumSGD` for the arguments.
    """

    fused = 'corrected_momentum_sgd'
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
        v -= g
        p += lr * v


class CorrectedMomentumSGD(optimizer.GradientMethod):
    """Stochastic gradient descent with momentum that a change of ``lr`` acts on at once.

    Args:
        lr (float): Learning rate.
        momentum (float): How much of the velocity is left after a step.

    Source: Goyal et al., arXiv:1706.02677, section 3.
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

    def create_update_rule(self) -> CorrectedMomentumSGDRule:
        """Makes a rule for one parameter."""
        return CorrectedMomentumSGDRule(self.hyperparam)
