"""Lasso."""

from __future__ import annotations

import typing as tp

from chainer._optim.hyperparameter import FINITE
from chainer.optimizer_hooks._gradient import changing
from chainer.utils import force_array


class Lasso:
    """Adds ``rate`` times the parameter's sign to its gradient, as if by an L1 penalty.

    Args:
        rate (float): Coefficient.
    """

    name = 'Lasso'
    call_for_each_param = True
    timing = 'pre'

    def __init__(self, rate: float) -> None:
        FINITE.check(self.name, 'rate', rate)
        self.rate = rate

    def __call__(self, rule: tp.Any, param: tp.Any) -> None:
        with changing(param) as (xp, p, g):
            if g is not None:
                param.grad = force_array(g + float(self.rate) * xp.sign(p))
