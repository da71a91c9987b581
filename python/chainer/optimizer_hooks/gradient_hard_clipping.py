"""Clipping of each element."""

from __future__ import annotations

import typing as tp

from chainer._optim.hyperparameter import BOUND
from chainer.optimizer_hooks._gradient import changing
from chainer.utils import force_array


class GradientHardClipping:
    """Moves elements of gradients that are outside of an interval to its ends.

    Args:
        lower_bound, upper_bound (float): The ends.
    """

    name = 'GradientHardClipping'
    call_for_each_param = True
    timing = 'pre'

    def __init__(self, lower_bound: float, upper_bound: float) -> None:
        BOUND.check(self.name, 'lower_bound', lower_bound)
        BOUND.check(self.name, 'upper_bound', upper_bound)
        if lower_bound > upper_bound:
            raise ValueError(
                f'{self.name}: lower_bound is {lower_bound}, larger than upper_bound {upper_bound}'
            )
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def __call__(self, rule: tp.Any, param: tp.Any) -> None:
        with changing(param) as (xp, _, g):
            if g is not None:
                param.grad = force_array(
                    xp.clip(g, float(self.lower_bound), float(self.upper_bound))
                )
