"""The mean of absolute differences."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.loss.mean_squared_error import mean_squared_error
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class MeanAbsoluteError(BuiltinFunction):
    """See `mean_absolute_error`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x0', 'x1'))
        x0, x1 = in_types
        type_check.expect(x0.dtype.kind == 'f', x0.dtype == x1.dtype, x0.shape == x1.shape)

    @staticmethod
    def compose(x0: chainerx.ndarray, x1: chainerx.ndarray) -> chainerx.ndarray:
        return chainerx.absolute_error(x0, x1).mean()


@documented_like(mean_squared_error)
def mean_absolute_error(x0: VariableLike, x1: VariableLike) -> variable.Variable:
    """The mean of ``|x0 - x1|`` over all elements."""
    return MeanAbsoluteError.call(x0, x1)
