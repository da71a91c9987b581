"""An axis moved to another place."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Rollaxis(BuiltinFunction):
    """See `rollaxis`."""

    compose = routine(chainerx.rollaxis, axis=..., start=...)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        (x,) = in_types
        type_check.expect(x.ndim > self.axis if self.axis >= 0 else x.ndim >= -self.axis)
        type_check.expect(x.ndim >= self.start if self.start >= 0 else x.ndim > -self.start - 1)


def rollaxis(x: VariableLike, axis: int, start: int = 0) -> variable.Variable:
    """Moves an axis before another one; the others keep their order.

    Args:
        x (Variable or array): Any shape and dtype.
        axis (int): The axis.
        start (int): The axis that it is to stand before; the number of axes means last.

    Returns:
        Variable: A view. Differentiable, any order.

    Raises:
        InvalidType: If there is no such axis.
        TypeError: If one of these is no integer.
    """
    for name, value in (('axis', axis), ('start', start)):
        if not isinstance(value, int):
            raise TypeError(f'rollaxis: {name} is {value!r}, expected an int')
    return Rollaxis.call(x, axis=axis, start=start)
