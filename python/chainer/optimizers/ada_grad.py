"""AdaGrad."""

from __future__ import annotations

import typing as tp

from chainer import optimizer
from chainer._optim.hyperparameter import (
    FINITE,
    NON_NEGATIVE,
    Hyperparameter,
    HyperparameterProxy,
    defaults,
)
from chainer.optimizers._rule import FormulaRule, as_float

_default_hyperparam = defaults(
    'AdaGrad',
    lr=(0.001, FINITE),
    eps=(1e-08, NON_NEGATIVE),
)


class AdaGradRule(FormulaRule):
    """Update rule of `AdaGrad`: ``h += g ** 2; p -= lr * g / (sqrt(h) + eps)``.

    See :class:`chainer.optimizers.AdaGrad` for the arguments.
    """

    fused = 'ada_grad'
    fused_states = ('h',)

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        eps: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam or _default_hyperparam, lr=lr, eps=eps)

    def _numbers(self) -> tuple[float, ...]:
        return as_float(self.hyperparam, 'lr', 'eps')

    @staticmethod
    def step(xp: tp.Any, p: tp.Any, g: tp.Any, h: tp.Any, lr: float, eps: float) -> None:
        h += g * g
        p -= lr * g / (xp.sqrt(h) + eps)


class AdaGrad(optimizer.GradientMethod):
    """AdaGrad.

    Args:
        lr (float): Learning rate.
        eps (float): Keeps the denominator from 0.

    Source: Duchi et al., JMLR 12, 2011.
    """

    _limits = _default_hyperparam._limits[1]

    def __init__(
        self,
        lr: float = _default_hyperparam.lr,
        eps: float = _default_hyperparam.eps,
    ) -> None:
        super().__init__()
        self.hyperparam.lr = lr
        self.hyperparam.eps = eps

    lr = HyperparameterProxy('lr')
    eps = HyperparameterProxy('eps')

    def create_update_rule(self) -> AdaGradRule:
        """Makes a rule for one parameter."""
        return AdaGradRule(self.hyperparam)
