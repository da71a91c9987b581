"""Axes of length 1."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class ExpandDims(BuiltinFunction):
    """See `expand_dims`."""

    compose = routine(chainerx.expand_dims, axis=...)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        (x,) = in_types
        type_check.expect(x.ndim >= (self.axis if self.axis >= 0 else -self.axis - 1))


def expand_dims(x: VariableLike, axis: int) -> variable.Variable:
    """A new axis of length 1.

    Args:
        x (Variable or array): Any shape and dtype.
        axis (int): Where it stands in the result; negative ones count from the end.

    Returns:
        Variable: A view. Differentiable, any order.

    Raises:
        InvalidType: If the result can't have such an axis.
    """
    return ExpandDims.call(x, axis=int(axis))
