"""Arrays one behind the other."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.array.concat import concat, expect_joinable, to_sequence

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Dstack(BuiltinFunction):
    """See `dstack`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        expect_joinable(in_types, axis=2)

    @staticmethod
    def compose(*xs: chainerx.ndarray) -> chainerx.ndarray:
        return chainerx.dstack(xs)


@documented_like(concat)
def dstack(xs: tp.Iterable[VariableLike]) -> variable.Variable:
    """Joins arrays along the third axis, which is added if need be."""
    xs = to_sequence('dstack', xs)
    return Dstack.call(*xs)
