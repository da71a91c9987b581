"""RMSprop."""

from __future__ import annotations

import typing as tp

from chainer import optimizer
from chainer._optim.hyperparameter import (
    FINITE,
    FRACTION,
    NON_NEGATIVE,
    Hyperparameter,
    HyperparameterProxy,
    defaults,
)
from chainer.optimizers._rule import FormulaRule, as_float, check_eps

_default_hyperparam = defaults(
    'RMSprop',
    lr=(0.01, FINITE),
    alpha=(0.99, FRACTION),
    eps=(1e-08, NON_NEGATIVE),
    eps_inside_sqrt=False,
)


class RMSpropRule(FormulaRule):
    """Update rule of `RMSprop`: steps are divided by the root of an average of squares.

    See :class:`chainer.optimizers.RMSprop` for the arguments.
    """

    fused = 'rmsprop'
    fused_states = ('ms',)

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        alpha: float | None = None,
        eps: float | None = None,
        eps_inside_sqrt: bool | None = None,
    ) -> None:
        super().__init__(
            parent_hyperparam or _default_hyperparam,
            lr=lr,
            alpha=alpha,
            eps=eps,
            eps_inside_sqrt=eps_inside_sqrt,
        )

    def _numbers(self) -> tuple[float, ...]:
        return as_float(self.hyperparam, 'lr', 'alpha', 'eps', 'eps_inside_sqrt')

    def _check_dtype(self, dtype: tp.Any) -> None:
        check_eps('RMSprop', float(self.hyperparam.eps), dtype)

    @staticmethod
    def step(
        xp: tp.Any,
        p: tp.Any,
        g: tp.Any,
        ms: tp.Any,
        lr: float,
        alpha: float,
        eps: float,
        eps_inside_sqrt: float,
    ) -> None:
        ms *= alpha
        ms += (1 - alpha) * g * g
        p -= lr * g / (xp.sqrt(ms + eps) if eps_inside_sqrt else xp.sqrt(ms) + eps)


class RMSprop(optimizer.GradientMethod):
    """RMSprop.

    Args:
        lr (float): Learning rate.
        alpha (float): Decay of the average.
        eps (float): Keeps the denominator from 0.
        eps_inside_sqrt (bool): Whether ``eps`` is added before the root is taken.

    Source: Tieleman and Hinton, COURSERA lecture 6.5, 2012.
    """

    _limits = _default_hyperparam._limits[1]

    def __init__(
        self,
        lr: float = _default_hyperparam.lr,
        alpha: float = _default_hyperparam.alpha,
        eps: float = _default_hyperparam.eps,
        eps_inside_sqrt: bool = _default_hyperparam.eps_inside_sqrt,
    ) -> None:
        super().__init__()
        self.hyperparam.lr = lr
        self.hyperparam.alpha = alpha
        self.hyperparam.eps = eps
        self.hyperparam.eps_inside_sqrt = eps_inside_sqrt

    lr = HyperparameterProxy('lr')
    alpha = HyperparameterProxy('alpha')
    eps = HyperparameterProxy('eps')
    eps_inside_sqrt = HyperparameterProxy('eps_inside_sqrt')

    def create_update_rule(self) -> RMSpropRule:
        """Makes a rule for one parameter."""
        return RMSpropRule(self.hyperparam)
