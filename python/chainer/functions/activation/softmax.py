"""Normalized exponentials."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.declaration import routine
from chainer.functions.activation._unary import AlongAxis

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Softmax(AlongAxis):
    """See `softmax`."""

    compose = routine(chainerx.softmax, axis=1)


def softmax(x: VariableLike, axis: int | tuple[int, ...] = 1) -> variable.Variable:
    """Normalized exponentials, ``exp(x) / sum(exp(x))`` along an axis.

    Args:
        x (Variable or array): Any shape, any float dtype.
        axis (int or tuple of ints): See above; negative ones count from the end, and the sum is
            taken over several together.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype, or has no such axis.
        ValueError: If ``axis`` names one axis twice.

    Note:
        No overflow: the greatest element is subtracted first.
    """
    return Softmax.call(x, axis=axis)
