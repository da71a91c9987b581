"""Absolute differences."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class AbsoluteError(BuiltinFunction):
    """See `absolute_error`."""

    compose = staticmethod(chainerx.absolute_error)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x0', 'x1'))
        x0, x1 = in_types
        type_check.expect(x0.dtype.kind == 'f', x0.dtype == x1.dtype, x0.shape == x1.shape)


def absolute_error(x0: VariableLike, x1: VariableLike) -> variable.Variable:
    """The absolute difference, ``|x0 - x1|``, elementwise.

    Args:
        x0 (Variable or array): Any shape, any float dtype.
        x1 (Variable or array): Same shape and dtype.

    Returns:
        Variable: Their shape and dtype. Differentiable in both, any order.

    Raises:
        InvalidType: If dtypes or shapes differ, or are no floats.
    """
    return AbsoluteError.call(x0, x1)
