"""Arrays in another shape."""

from __future__ import annotations

import math
import typing as tp

import chainerx
from chainerx._core import engine

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, ShapeSpec, VariableLike


class Reshape(BuiltinFunction):
    """See `reshape`; ``shape`` is a tuple."""

    compose = routine(chainerx.reshape, shape=...)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        size = type_check.prod(in_types[0].shape)
        if -1 not in self.shape:
            type_check.expect(
                size == type_check.prod(type_check.make_variable(self.shape, str(self.shape)))
            )
        elif known := math.prod(n for n in self.shape if n != -1):
            type_check.expect(size % type_check.make_variable(known, f'known_size(={known})') == 0)


def reshape(x: VariableLike, shape: ShapeSpec) -> variable.Variable:
    """The elements of an array, in C order, in another shape.

    Args:
        x (Variable or array): Any shape and dtype.
        shape (tuple of int): One length may be -1: it follows from the others.

    Returns:
        Variable: ``x`` itself if it has the shape; else a view where strides allow it.
        Differentiable, any order.

    Raises:
        InvalidType: If the number of elements does not fit.
        ValueError: If two lengths are -1.
    """
    if type(shape) is not tuple:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if x.shape == shape:
        return variable.as_variable(x)
    return Reshape.call(x, shape=shape)


engine.set_method('reshape', Reshape.call)
