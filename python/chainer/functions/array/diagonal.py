"""Diagonals."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import _diagonal

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Diagonal(BuiltinFunction):
    """See `diagonal`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        (x,) = in_types
        for axis in (self.axis1, self.axis2):
            type_check.expect(x.ndim > axis if axis >= 0 else x.ndim >= -axis)

    @staticmethod
    def compose(x: chainerx.ndarray, *, offset: int, axis1: int, axis2: int) -> chainerx.ndarray:
        return _diagonal(x, offset, axis1, axis2)


def diagonal(x: VariableLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> variable.Variable:
    """A diagonal of the matrices along two axes.

    Args:
        x (Variable or array): Any shape of at least 2 axes, any dtype.
        offset (int): Which diagonal: 0 is the main one, those above it are positive.
        axis1 (int): The axis of rows.
        axis2 (int): The axis of columns.

    Returns:
        Variable: A view: the other axes, then the diagonal. Differentiable, any order.

    Raises:
        InvalidType: If there is no such axis.
        ValueError: If both are one.
    """
    return Diagonal.call(x, offset=offset, axis1=axis1, axis2=axis2)
