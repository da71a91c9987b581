"""Elements in reverse order."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Flip(BuiltinFunction):
    """See `flip`."""

    compose = routine(chainerx.flip, axis=...)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        (x,) = in_types
        type_check.expect(x.ndim > self.axis if self.axis >= 0 else x.ndim >= -self.axis)


def flip(x: VariableLike, axis: int) -> variable.Variable:
    """The elements in reverse order along an axis.

    Args:
        x (Variable or array): Any shape and dtype.
        axis (int): See above; negative ones count from the end.

    Returns:
        Variable: A view. Differentiable, any order.

    Raises:
        InvalidType: If there is no such axis.
        TypeError: If ``axis`` is no integer.
    """
    if not isinstance(axis, int):
        raise TypeError(f'flip: axis is {axis!r}, expected an int')
    return Flip.call(x, axis=axis)
