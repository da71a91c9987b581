"""Arrays along a new axis."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.array.concat import to_sequence
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Stack(BuiltinFunction):
    """See `stack`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() > 0)
        first = in_types[0]
        if self.axis >= 0:
            type_check.expect(first.ndim >= self.axis)
        else:
            type_check.expect(-first.ndim - 1 <= self.axis)
        for x in in_types[1:]:
            type_check.expect(x.dtype == first.dtype, x.shape == first.shape)

    @staticmethod
    def compose(*xs: chainerx.ndarray, axis: int) -> chainerx.ndarray:
        return chainerx.stack(xs, axis)


def stack(xs: tp.Iterable[VariableLike], axis: int = 0) -> variable.Variable:
    """Joins arrays along a new axis.

    Args:
        xs (iterable of Variable or array): One or more, of one dtype and shape.
        axis (int): Where it stands in the result; negative ones count from the end.

    Returns:
        Variable: The shape of ``xs`` with the new axis, their dtype. Differentiable in all of them,
        any order.

    Raises:
        InvalidType: If dtypes or shapes differ, there is no array, or no such axis.
        TypeError: If ``xs`` is no iterable of them.
    """
    xs = to_sequence('stack', xs)
    return Stack.call(*xs, axis=axis)
