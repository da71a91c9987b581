"""Base classes of functions that reduce along axes."""

from __future__ import annotations

import typing as tp

from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import Axis, InType, InTypes


def to_axes(op: str, axis: Axis | None) -> tuple[int, ...] | None:
    """The tuple that ``axis`` stands for; None for all axes.

    Raises:
        TypeError: If it is no None, int or tuple of int.
        ValueError: If it names one axis twice.
    """
    if axis is None:
        return None
    if isinstance(axis, int):
        return (axis,)
    if not isinstance(axis, tuple) or not all(isinstance(a, int) for a in axis):
        raise TypeError(f'{op}: axis is {axis!r}, expected None, an int or a tuple of int')
    if len(set(axis)) != len(axis):
        raise ValueError(f'{op}: axis {axis} names one axis twice')
    return axis


def to_axis(op: str, axis: int | None) -> int | None:
    """Checks an ``axis`` that is an int or None.

    Raises:
        TypeError: If it is neither.
    """
    if axis is not None and not isinstance(axis, int):
        raise TypeError(f'{op}: axis is {axis!r}, expected None or an int')
    return axis


def expect_axis(axis: int, in_type: InType) -> None:
    """Type check: the array has the axis."""
    if axis >= 0:
        type_check.expect(axis < in_type.ndim)
    else:
        type_check.expect(-axis - 1 < in_type.ndim)


class Reduction(BuiltinFunction):
    """A function of a float array along any axes."""

    axis: tuple[int, ...] | None

    def _prepare(self) -> None:
        self.axis = to_axes(type(self).__name__, self.axis)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')
        for axis in self.axis or ():
            expect_axis(axis, in_types[0])


class Scan(BuiltinFunction):
    """A function of a float array along one axis, or along its elements in C order."""

    axis: int | None

    def _prepare(self) -> None:
        self.axis = to_axis(type(self).__name__, self.axis)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')
        if self.axis is not None:
            expect_axis(self.axis, in_types[0])
