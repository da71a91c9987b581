"""Weight decay."""

from __future__ import annotations

import typing as tp

from chainer._optim.hyperparameter import FINITE
from chainer.optimizer_hooks._gradient import changing
from chainer.utils import force_array


class WeightDecay:
    """Adds ``rate`` times the parameter to its gradient: weights shrink, as if by an L2 penalty.

    Args:
        rate (float): Coefficient.
    """

    name = 'WeightDecay'
    call_for_each_param = True
    timing = 'pre'

    def __init__(self, rate: float) -> None:
        FINITE.check(self.name, 'rate', rate)
        self.rate = rate

    def __call__(self, rule: tp.Any, param: tp.Any) -> None:
        with changing(param) as (_, p, g):
            if g is not None:
                param.grad = force_array(g + float(self.rate) * p)
