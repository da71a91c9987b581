"""Arrays one below the other."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.array.concat import concat, to_sequence
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Vstack(BuiltinFunction):
    """See `vstack`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() > 0)
        first = in_types[0]
        ndim = type_check.eval(first.ndim)
        for x in in_types[1:]:
            type_check.expect(first.dtype == x.dtype, first.ndim == x.ndim)
            if ndim == 1:
                type_check.expect(first.shape == x.shape)
            for d in range(1, ndim):
                type_check.expect(first.shape[d] == x.shape[d])

    @staticmethod
    def compose(*xs: chainerx.ndarray) -> chainerx.ndarray:
        return chainerx.vstack(xs)


@documented_like(concat)
def vstack(xs: tp.Iterable[VariableLike]) -> variable.Variable:
    """Joins arrays along the first axis; arrays of one axis count as rows.

    Args:
        xs (iterable of Variable or array): One or more, of one dtype; the same shapes, but for the
            length of the first of several axes.
    """
    xs = to_sequence('vstack', xs)
    return Vstack.call(*xs)
