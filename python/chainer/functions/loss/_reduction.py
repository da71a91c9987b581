"""Reductions that losses share."""

from __future__ import annotations

import chainerx

from chainer import variable
from chainer.functions._precision import narrowed, widened
from chainer.functions.math import average
from chainer.functions.math import sum as sum_


def check_reduce(op: str, reduce: str, allowed: tuple[str, ...] = ('mean', 'no')) -> None:
    if reduce not in allowed:
        expected = ', '.join(map(repr, allowed[:-1])) + f' or {allowed[-1]!r}'
        raise ValueError(f'{op}: reduce is {reduce!r}, expected {expected}')


def mean(losses: chainerx.ndarray, count: float | chainerx.ndarray) -> chainerx.ndarray:
    """The sum over ``count``, a number or an array; both soon leave the range of float16."""
    if losses.dtype.itemsize != 2:
        return losses.sum() / count
    return narrowed(widened(losses).sum() / count, losses)


def centered(x: chainerx.ndarray) -> chainerx.ndarray:
    """The rows of a matrix less their mean, in the precision of sums."""
    x = widened(x)
    return x - x.mean(0)


def half_squared_sum(x: chainerx.ndarray) -> chainerx.ndarray:
    return chainerx.square(x).sum() * 0.5


def reduce_variable(loss: variable.Variable, reduce: str) -> variable.Variable:
    """The sum or mean of a variable, or itself."""
    if reduce == 'sum':
        return sum_.sum(loss)
    return average.average(loss) if reduce == 'mean' else loss
