"""Quantiles of distributions of whole numbers."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer import functions as F
from chainer import variable


def search(
    cdf: tp.Callable[[variable.Variable], variable.Variable],
    level: variable.Variable,
    below: variable.Variable,
    above: variable.Variable,
) -> variable.Variable:
    """The smallest whole numbers whose ``cdf`` reaches the levels, by halving.

    Args:
        cdf: A nondecreasing function.
        level: Probabilities.
        below: Whole numbers, of the shape of the result, where it does not reach them.
        above: The same, where it does.
    """
    most_steps = int(np.finfo(above.dtype).maxexp) + int(np.finfo(above.dtype).nmant)
    for _ in range(most_steps):
        middle = below + F.floor((above - below) / 2)
        is_between = (middle.array > below.array) & (middle.array < above.array)
        if not is_between.any():
            break
        reaches = cdf(middle).array >= level.array
        above = F.where(is_between & reaches, middle, above)
        below = F.where(is_between & ~reaches, middle, below)
    return above
