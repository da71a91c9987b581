"""RMSprop as Graves has it."""

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
from chainer.optimizers._rule import FormulaRule, as_float

_default_hyperparam = defaults(
    'RMSpropGraves',
    lr=(0.0001, FINITE),
    alpha=(0.95, FRACTION),
    momentum=(0.9, FINITE),
    eps=(0.0001, NON_NEGATIVE),
)


class RMSpropGravesRule(FormulaRule):
    """Update rule of `RMSpropGraves`: RMSprop with centred squares and momentum.

    See :class:`chainer.optimizers.RMSpropGraves` for the arguments.
    """

    fused = 'rmsprop_graves'
    fused_states = ('n', 'g', 'delta')

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        alpha: float | None = None,
        momentum: float | None = None,
        eps: float | None = None,
    ) -> None:
        super().__init__(
            parent_hyperparam or _default_hyperparam, lr=lr, alpha=alpha, momentum=momentum, eps=eps
        )

    def _numbers(self) -> tuple[float, ...]:
        return as_float(self.hyperparam, 'lr', 'alpha', 'momentum', 'eps')

    @staticmethod
    def step(
        xp: tp.Any,
        p: tp.Any,
        grad: tp.Any,
        n: tp.Any,
        g: tp.Any,
        delta: tp.Any,
        lr: float,
        alpha: float,
        momentum: float,
        eps: float,
    ) -> None:
        n *= alpha
        n += (1 - alpha) * grad * grad
        g *= alpha
        g += (1 - alpha) * grad
        delta *= momentum
        delta -= lr * grad / xp.sqrt(n - g * g + eps)
        p += delta


class RMSpropGraves(optimizer.GradientMethod):
    """RMSprop as Graves has it: with centred squares and momentum.

    Args:
        lr (float): Learning rate.
        alpha (float): Decay of the averages.
        momentum (float): How much of the velocity is left after a step.
        eps (float): Keeps the denominator from 0.

    Source: Graves, arXiv:1308.0850.
    """

    _limits = _default_hyperparam._limits[1]

    def __init__(
        self,
        lr: float = _default_hyperparam.lr,
        alpha: float = _default_hyperparam.alpha,
        momentum: float = _default_hyperparam.momentum,
        eps: float = _default_hyperparam.eps,
    ) -> None:
        super().__init__()
        self.hyperparam.lr = lr
        self.hyperparam.alpha = alpha
        self.hyperparam.momentum = momentum
        self.hyperparam.eps = eps

    lr = HyperparameterProxy('lr')
    alpha = HyperparameterProxy('alpha')
    momentum = HyperparameterProxy('momentum')
    eps = HyperparameterProxy('eps')

    def create_update_rule(self) -> RMSpropGravesRule:
        """Makes a rule for one parameter."""
        return RMSpropGravesRule(self.hyperparam)
