"""A penalty on the covariance of features."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.loss._reduction import centered, check_reduce, half_squared_sum
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike

_REDUCE = ('half_squared_sum', 'no')


class DeCov(BuiltinFunction):
    """See `decov`."""

    is_called = True
    check_uses_attributes = False

    def _prepare(self) -> None:
        check_reduce('decov', self.reduce, _REDUCE)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('h',))
        (h,) = in_types
        type_check.expect(h.dtype.kind == 'f', h.ndim == 2)

    @staticmethod
    def compose(h: chainerx.ndarray, *, reduce: str = 'half_squared_sum') -> chainerx.ndarray:
        centered_h = centered(h)
        covariance = chainerx.matmul(centered_h.T, centered_h) / len(h)
        covariance = covariance - chainerx.diag(chainerx.diag(covariance))
        loss = covariance if reduce == 'no' else half_squared_sum(covariance)
        return loss.astype(h.dtype)


def decov(h: VariableLike, reduce: str = 'half_squared_sum') -> variable.Variable:
    """The DeCov loss: the covariance of different features over a minibatch.

    Args:
        h (Variable or array): (N, features), a float dtype.
        reduce (str): 'half_squared_sum' for half the sum of squares, 'no' for the covariance
            itself.

    Returns:
        Variable: One number, or (features, features) with zeros on the diagonal. Differentiable,
        any order.

    Raises:
        InvalidType: If ``h`` is no such array.
        ValueError: For an unknown ``reduce``.

    Source: Cogswell et al., ICLR 2016.
    """
    check_reduce('decov', reduce, _REDUCE)
    return DeCov.call(h, reduce=reduce)
