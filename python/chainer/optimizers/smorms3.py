"""SMORMS3."""

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
    'SMORMS3',
    lr=(0.001, FINITE),
    eps=(1e-16, NON_NEGATIVE),
)


class SMORMS3Rule(FormulaRule):
    """Update rule of `SMORMS3`: the learning rate follows how sure the gradients are.

    See :class:`chainer.optimizers.SMORMS3` for the arguments.
    """

    fused = 'smorms3'
    fused_states = ('mem', 'g', 'g2')

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        eps: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam or _default_hyperparam, lr=lr, eps=eps)

    def init_state(self, param: tp.Any) -> None:
        """Makes the states: a memory of one step, and zeros."""
        super().init_state(param)
        self._state['mem'] += 1  # type: ignore[index]

    def _numbers(self) -> tuple[float, ...]:
        return as_float(self.hyperparam, 'lr', 'eps')

    @staticmethod
    def step(
        xp: tp.Any,
        p: tp.Any,
        grad: tp.Any,
        mem: tp.Any,
        g: tp.Any,
        g2: tp.Any,
        lr: float,
        eps: float,
    ) -> None:
        r = 1 / (mem + 1)
        g *= 1 - r
        g += r * grad
        g2 *= 1 - r
        g2 += r * grad * grad
        x = g * g / (g2 + eps)
        p -= grad * xp.minimum(x, lr) / (xp.sqrt(g2) + eps)
        mem *= 1 - x
        mem += 1


class SMORMS3(optimizer.GradientMethod):
    """Simon Funk's SMORMS3.

    Args:
        lr (float): Upper bound of the learning rate.
        eps (float): Keeps denominators from 0.

    Source: http://sifter.org/~simon/journal/20150420.html.
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

    def create_update_rule(self) -> SMORMS3Rule:
        """Makes a rule for one parameter."""
        return SMORMS3Rule(self.hyperparam)
