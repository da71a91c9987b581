"""AdaDelta."""

from __future__ import annotations

import typing as tp

from chainer import optimizer
from chainer._optim.hyperparameter import (
    FRACTION,
    NON_NEGATIVE,
    Hyperparameter,
    HyperparameterProxy,
    defaults,
)
from chainer.optimizers._rule import FormulaRule, as_float

_default_hyperparam = defaults(
    'AdaDelta',
    rho=(0.95, FRACTION),
    eps=(1e-06, NON_NEGATIVE),
)


class AdaDeltaRule(FormulaRule):
    """Update rule of `AdaDelta`: steps as large as past ones were, on average.

    See :class:`chainer.optimizers.AdaDelta` for the arguments.
    """

    fused = 'ada_delta'
    fused_states = ('msg', 'msdx')

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        rho: float | None = None,
        eps: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam or _default_hyperparam, rho=rho, eps=eps)

    def _numbers(self) -> tuple[float, ...]:
        return as_float(self.hyperparam, 'rho', 'eps')

    @staticmethod
    def step(
        xp: tp.Any, p: tp.Any, g: tp.Any, msg: tp.Any, msdx: tp.Any, rho: float, eps: float
    ) -> None:
        msg *= rho
        msg += (1 - rho) * g * g
        dx = xp.sqrt((msdx + eps) / (msg + eps)) * g
        msdx *= rho
        msdx += (1 - rho) * dx * dx
        p -= dx


class AdaDelta(optimizer.GradientMethod):
    """AdaDelta.

    Args:
        rho (float): Decay of the averages.
        eps (float): Keeps the fraction from 0 / 0.

    Source: Zeiler, arXiv:1212.5701.
    """

    _limits = _default_hyperparam._limits[1]

    def __init__(
        self,
        rho: float = _default_hyperparam.rho,
        eps: float = _default_hyperparam.eps,
    ) -> None:
        super().__init__()
        self.hyperparam.rho = rho
        self.hyperparam.eps = eps

    rho = HyperparameterProxy('rho')
    eps = HyperparameterProxy('eps')

    def create_update_rule(self) -> AdaDeltaRule:
        """Makes a rule for one parameter."""
        return AdaDeltaRule(self.hyperparam)
