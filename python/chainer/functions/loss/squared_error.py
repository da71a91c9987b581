"""Squares of differences."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class SquaredError(BuiltinFunction):
    """See `squared_error`."""

    is_elementwise = True
    compose = staticmethod(chainerx.squared_error)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x0', 'x1'))
        x0, x1 = in_types
        type_check.expect(x0.dtype.kind == 'f', x0.dtype == x1.dtype, x0.shape == x1.shape)


def squared_error(x0: VariableLike, x1: VariableLike) -> variable.Variable:
    """``(x0 - x1) ** 2``, elementwise; not averaged, unlike `mean_squared_error`.

    Args:
        x0, x1 (Variable or array): One shape and one float dtype.

    Returns:
        Variable: Their shape and dtype. Differentiable in both, any order.

    Raises:
        InvalidType: If shapes or dtypes differ, or the dtype is not a float.
    """
    return SquaredError.call(x0, x1)


def squared_difference(x1: VariableLike, x2: VariableLike) -> variable.Variable:
    """``(x1 - x2) ** 2``, elementwise: another name of `squared_error`.

    Args:
        x1, x2 (Variable or array): One shape and one float dtype.

    Returns:
        Variable: Their shape and dtype. Differentiable in both, any order.

    Raises:
        InvalidType: If shapes or dtypes differ, or the dtype is not a float.
    """
    return squared_error(x1, x2)
