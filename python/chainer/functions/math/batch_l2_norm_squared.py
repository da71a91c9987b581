"""Squared lengths of the examples of a batch."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions._precision import narrowed, widened
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class BatchL2NormSquared(BuiltinFunction):
    """See `batch_l2_norm_squared`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim >= 2)

    @staticmethod
    def compose(x: chainerx.ndarray) -> chainerx.ndarray:
        return narrowed(chainerx.square(widened(x)).sum(tuple(range(1, x.ndim))), x)


def batch_l2_norm_squared(x: VariableLike) -> variable.Variable:
    """The sum of squares over all axes but the first.

    Args:
        x (Variable or array): (N, ...), at least 2-d, any float dtype.

    Returns:
        Variable: (N,), the dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If the dtype is not a float, or there is one axis only.
    """
    return BatchL2NormSquared.call(x)
