"""Arrays side by side."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.array.concat import concat, expect_joinable, to_sequence
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Hstack(BuiltinFunction):
    """See `hstack`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() > 0)
        expect_joinable(in_types, axis=0 if type_check.eval(in_types[0].ndim) == 1 else 1)

    @staticmethod
    def compose(*xs: chainerx.ndarray) -> chainerx.ndarray:
        return chainerx.hstack(xs)


@documented_like(concat)
def hstack(xs: tp.Iterable[VariableLike]) -> variable.Variable:
    """Joins arrays along the second axis, or the first if it is the only one."""
    xs = to_sequence('hstack', xs)
    return Hstack.call(*xs)
