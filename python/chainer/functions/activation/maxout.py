"""The greatest of several features."""

from __future__ import annotations

import typing as tp

from chainer import variable
from chainer.functions.array.reshape import reshape
from chainer.functions.math import minmax
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


def maxout(x: VariableLike, pool_size: int, axis: int = 1) -> variable.Variable:
    """The greatest of each ``pool_size`` neighbours along an axis.

    Args:
        x (Variable or array): Any shape with this axis, any float dtype.
        pool_size (int): A divisor of the length of the axis.
        axis (int): See above; negative ones count from the end.

    Returns:
        Variable: The dtype of ``x``; the axis is shorter by the factor ``pool_size``.
        Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype, or ``pool_size`` does not divide the length.
        ValueError: If it is not positive.
        IndexError: If there is no such axis.

    Source: Goodfellow et al., ICML 2013.
    """
    if pool_size <= 0:
        raise ValueError(f'maxout: pool_size is {pool_size}, expected at least 1')
    shape = x.shape
    n = shape[axis]
    if n % pool_size:
        length = type_check.make_variable(n, f'x.shape[{axis}]')
        size = type_check.make_variable(pool_size, 'pool_size')
        with type_check._naming('Maxout'):
            type_check.expect(length % size == 0)
    axis %= len(shape)
    pooled = reshape(x, (*shape[:axis], n // pool_size, pool_size, *shape[axis + 1 :]))
    return minmax.max(pooled, axis=axis + 1)
