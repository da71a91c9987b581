"""Nesterov's accelerated gradient."""

from __future__ import annotations

import typing as tp

from chainer import optimizer
from chainer._optim.hyperparameter import FINITE, Hyperparameter, HyperparameterProxy, defaults
from chainer.optimizers._rule import FormulaRule, as_float

_default_hyperparam = defaults(
    'NesterovAG',
    lr=(0.01, FINITE),
    momentum=(0.9, FINITE),
)


class NesterovAGRule(FormulaRule):
    """Update rule of `NesterovAG`: the gradient is taken where the momentum leads.

    See :class:`chainer.optimizers.NesterovAG` for the arguments.
    """

    fused = 'nesterov_ag'
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
        p += momentum * momentum * v
        p -= (1 + momentum) * lr * g


class NesterovAG(optimizer.GradientMethod):
    """Nesterov's accelerated gradient.

    Args:
        lr (float): Learning rate.
        momentum (float): How much of the velocity is left after a step.

    Source: Bengio et al., arXiv:1212.0901.
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

    def create_update_rule(self) -> NesterovAGRule:
        """Makes a rule for one parameter."""
        return NesterovAGRule(self.hyperparam)
