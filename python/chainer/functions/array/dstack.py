"""Arrays one behind the other."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.array.concat import to_sequence
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Dstack(BuiltinFunction):
    """See `dstack`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() > 0)
        first = in_types[0]
        ndim = type_check.eval(first.ndim)
        for x in in_types[1:]:
            type_check.expect(first.dtype == x.dtype, first.ndim == x.ndim)
            for d in range(ndim):
                if d != 2:
                    type_check.expect(first.shape[d] == x.shape[d])

    @staticmethod
    def compose(*xs: chainerx.ndarray) -> chainerx.ndarray:
        return chainerx.dstack(xs)


def dstack(xs: tp.Iterable[VariableLike]) -> variable.Variable:
    """Joins arrays along the third axis, which is added if need be.

    Args:
        xs (iterable of Variable or array): One or more, of one dtype; the same shapes, but for the
            length of this axis.

    Returns:
        Variable: The dtype of ``xs``; the axis has the sum of their lengths. Differentiable in all
        of them, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or there is no array.
        TypeError: If ``xs`` is no iterable of them.
    """
    xs = to_sequence('dstack', xs)
    return Dstack.call(*xs)
