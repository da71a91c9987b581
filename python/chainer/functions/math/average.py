"""Means along axes."""

from __future__ import annotations

import math
import typing as tp

import chainerx
import numpy as np
from chainerx._core import engine

from chainer import variable
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.cast import cast
from chainer.functions.array.reshape import reshape
from chainer.functions.math._reduction import Reduction, to_axes
from chainer.functions.math.sum import sum
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Mean(Reduction):
    """The mean, computed as the sum times ``multiplier``."""

    saved = ('multiplier',)

    @staticmethod
    def compose(
        x: chainerx.ndarray, *, axis: tuple[int, ...] | None, keepdims: bool
    ) -> tuple[chainerx.ndarray, float]:
        count = x.size if axis is None else math.prod(x.shape[a] for a in axis)
        if count == 0:
            raise ZeroDivisionError(f'average: x has shape {x.shape}, nothing along axis {axis}')
        return chainerx.mean(x, axis, keepdims), 1.0 / count


def average(
    x: VariableLike,
    axis: int | tuple[int, ...] | None = None,
    weights: VariableLike | None = None,
    keepdims: bool = False,
) -> variable.Variable:
    """The mean along axes, weighted or not.

    Args:
        x (Variable or array): Any shape, any float dtype; with weights, it is converted to theirs,
            or over chainerx arrays promoted with them.
        axis (int or tuple of int): The axes to average along; None stands for all.
        weights (Variable or array): Of the length of the axis; of the shape of ``x`` if it is None.
        keepdims (bool): Whether the axes stay, with length 1.

    Returns:
        Variable: The shape of ``x`` without the axes; its dtype, or that of the product.
        Differentiable in ``x`` and ``weights``, any order.

    Raises:
        InvalidType: If the dtype is not a float, an axis does not exist, or weights do not fit.
        ValueError: If an axis is given twice, or several axes together with weights.
        ZeroDivisionError: If there is nothing to average.
        TypeError: If ``axis`` is neither an int nor a tuple of them.
    """
    axes = to_axes('average', axis)
    if weights is None:
        return Mean.call(x, axis=axes, keepdims=keepdims)
    if axes is not None and len(axes) != 1:
        raise ValueError(f'average: axis is {axes}, expected one axis with weights')
    x, weights = variable.as_variable(x), variable.as_variable(weights)
    promotes = x.xp is chainerx
    dtype = chainerx.promote_types(x.dtype, weights.dtype) if promotes else weights.dtype
    if dtype.itemsize == 2:  # whose range products and their sums soon leave
        weights = cast(weights, np.float32)
    if axes is not None:
        if weights.size != x.shape[axes[0]]:
            length = type_check.Variable(weights.size, 'weights.size')
            with type_check._naming('average'):
                type_check.expect(length == x.shape[axes[0]])
        shape = [1] * x.ndim
        shape[axes[0]] = x.shape[axes[0]]
        weights = reshape(weights, tuple(shape))
    if not promotes:
        x = cast(x, weights.dtype)
    weighted = sum(x * broadcast_to(weights, x.shape), axes, keepdims)
    # One number, whatever the shape of x.
    divisor = sum(weights, None)
    mean = weighted / broadcast_to(divisor, weighted.shape)
    return mean if mean.dtype == dtype else cast(mean, dtype)


engine.set_method('mean', Mean.call, average)
