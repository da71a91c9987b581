"""Arrays without axes of length 1."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import Axis, InTypes, VariableLike


class Squeeze(BuiltinFunction):
    """See `squeeze`."""

    axis: tuple[int, ...] | None

    compose = routine(chainerx.squeeze, axis=None)

    def _prepare(self) -> None:
        self.axis = _to_axes(self.axis)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() == 1)
        (x,) = in_types
        for axis in self.axis or ():
            if axis >= 0:
                type_check.expect(x.ndim > axis)
            else:
                type_check.expect(-x.ndim <= axis)


def squeeze(x: VariableLike, axis: int | tuple[int, ...] | None = None) -> variable.Variable:
    """Leaves out axes of length 1.

    Args:
        x (Variable or array): Any shape and dtype.
        axis (int or tuple of int): Which; None stands for all of length 1.

    Returns:
        Variable: A view. Differentiable, any order.

    Raises:
        InvalidType: If there is no such axis.
        ValueError: If its length is not 1.
        TypeError: If ``axis`` is none of the above.
    """
    return Squeeze.call(x, axis=_to_axes(axis))


def _to_axes(axis: Axis | None) -> tuple[int, ...] | None:
    if isinstance(axis, int):
        return (axis,)
    if axis is not None and not (isinstance(axis, tuple) and all(isinstance(a, int) for a in axis)):
        raise TypeError(f'squeeze: axis is {axis!r}, expected None, an int or a tuple of int')
    return axis
