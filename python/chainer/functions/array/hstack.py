"""Arrays side by side."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.array.concat import to_sequence
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Hstack(BuiltinFunction):
    """See `hstack`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() > 0)
        first = in_types[0]
        ndim = type_check.eval(first.ndim)
        for x in in_types[1:]:
            type_check.expect(first.dtype == x.dtype, first.ndim == x.ndim)
            for d in range(ndim):
                if ndim > 1 and d != 1:
                    type_check.expect(first.shape[d] == x.shape[d])

    @staticmethod
    def compose(*xs: chainerx.ndarray) -> chainerx.ndarray:
        return chainerx.hstack(xs)


def hstack(xs: tp.Iterable[VariableLike]) -> variable.Variable:
    """Joins arrays along the second axis, or the first if it is the only one.

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
    xs = to_sequence('hstack', xs)
    return Hstack.call(*xs)
