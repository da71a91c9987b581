"""The loss of Huber."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.loss._reduction import check_reduce
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, NdArray, VariableLike

_REDUCE = ('sum_along_second_axis', 'no')


class HuberLoss(BuiltinFunction):
    """See `huber_loss`."""

    check_uses_attributes = False

    def _prepare(self) -> None:
        check_reduce('huber_loss', self.reduce, _REDUCE)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 't'))
        x, t = in_types
        type_check.expect(x.dtype.kind == 'f', x.dtype == t.dtype, x.shape == t.shape)

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        t: chainerx.ndarray,
        *,
        delta: float,
        reduce: str = 'sum_along_second_axis',
    ) -> chainerx.ndarray:
        losses = chainerx.huber_loss(x, t, delta)
        return losses if reduce == 'no' else losses.sum(axis=1)


def huber_loss(
    x: VariableLike, t: VariableLike, delta: float | NdArray, reduce: str = 'sum_along_second_axis'
) -> variable.Variable:
    """Half the squared difference where it is at most ``delta``, linear beyond.

    Args:
        x (Variable or array): Any shape, any float dtype.
        t (Variable or array): Same shape and dtype.
        delta (float or array of one element): Where the linear part begins.
        reduce (str): 'sum_along_second_axis', or 'no' for the losses themselves.

    Returns:
        Variable: Their shape, but for the second axis if that is summed along; their dtype.
        Differentiable in both, any order.

    Raises:
        InvalidType: If dtypes or shapes differ, or are no floats.
        ValueError: For an unknown ``reduce``, or if there is no second axis to sum along.

    Source: Huber, 1964.
    """
    check_reduce('huber_loss', reduce, _REDUCE)
    return HuberLoss.call(x, t, delta=float(delta), reduce=reduce)
