"""Axes, type checks and running statistics of normalizations by channel."""

from __future__ import annotations

import itertools
import typing as tp

import chainerx
import numpy as np

from chainer._graph.declaration import writable
from chainer._graph.variable import Variable
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import Axis, InType, VariableLike


def to_axes(op: str, axis: Axis | None) -> tuple[int, ...] | None:
    """The tuple that ``axis`` stands for; None if it follows from the shapes.

    Raises:
        RuntimeError: If it is no None, int or tuple of int, is not sorted, or names an axis by a
            negative number.
    """
    if axis is None:
        return None
    if isinstance(axis, (int, np.integer)):
        axis = (int(axis),)
    if not isinstance(axis, tuple) or not all(isinstance(a, (int, np.integer)) for a in axis):
        raise RuntimeError(f'{op}: axis is {axis!r}, expected None, an int or a tuple of int')
    if any(a < 0 for a in axis) or any(a >= b for a, b in itertools.pairwise(axis)):
        raise RuntimeError(
            f'{op}: axis is {axis}, expected numbers that are not negative and sorted in ascending '
            'order'
        )
    return axis


def default_axes(ndim: int, gamma_ndim: int) -> tuple[int, ...]:
    """All but those that follow the first, as many as ``gamma`` has."""
    return (0, *range(gamma_ndim + 1, ndim))


def expect_channels(axis: tuple[int, ...] | None, x: InType, params: tp.Sequence[InType]) -> None:
    """Type check: the parameters are of one dtype, and of the shape of ``x`` without the axes."""
    gamma = params[0]
    type_check.expect(x.dtype.kind == 'f', gamma.dtype.kind == 'f', x.ndim >= 1)
    for param in params[1:]:
        type_check.expect(param.dtype == gamma.dtype, param.shape == gamma.shape)
    ndim = int(type_check.eval(x.ndim))
    if axis is None:
        axis = default_axes(ndim, int(type_check.eval(gamma.ndim)))
    if axis:
        type_check.expect(x.ndim > axis[-1])
    kept = [i for i in range(ndim) if i not in axis]
    type_check.expect(gamma.ndim == len(kept))
    for i, a in enumerate(kept):
        type_check.expect(x.shape[a] == gamma.shape[i])


def running(op: str, name: str, array: VariableLike | None) -> chainerx.ndarray | None:
    """Running statistics as the routine writes to them; None for none."""
    if array is None:
        return None
    return writable(op, name, array.array if isinstance(array, Variable) else array)
