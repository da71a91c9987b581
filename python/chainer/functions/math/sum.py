"""Sums along axes."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._builtin import BuiltinFunction
from chainer.utils import type_check


class Sum(BuiltinFunction):
    """See `sum`."""

    attributes: tp.ClassVar = {'axis': None, 'keepdims': False}
    axis: tuple[int, ...] | None
    compose = staticmethod(chainerx.sum)

    def check_type_forward(self, in_types: tp.Any) -> None:
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')
        for axis in self.axis or ():
            if axis >= 0:
                type_check.expect(axis < in_types[0].ndim)
            else:
                type_check.expect(-axis - 1 < in_types[0].ndim)


def sum(
    x: tp.Any, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> variable.Variable:
    """The sum along axes.

    Args:
        x (Variable or array): Any shape, any float dtype.
        axis (int or tuple of int): The axes to sum along; None stands for all.
        keepdims (bool): Whether these stay, with length 1.

    Returns:
        Variable: Of the dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If the dtype is not a float, or an axis does not exist.
        ValueError: If an axis is given twice.
    """
    if axis is not None:
        axis = _to_axes('sum', axis)
    return Sum.call(x, axis, keepdims)


def _to_axes(op: str, axis: tp.Any) -> tuple[int, ...]:
    if isinstance(axis, int):
        return (axis,)
    if not isinstance(axis, tuple) or not all(isinstance(a, int) for a in axis):
        raise TypeError(f'{op}: axis is {axis!r}, expected None, an int or a tuple of int')
    if len(set(axis)) != len(axis):
        raise ValueError(f'{op}: axis {axis} names one axis twice')
    return axis
