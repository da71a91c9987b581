"""Derivatives of the digamma function."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class PolyGamma(BuiltinFunction):
    """See `polygamma`."""

    label = 'polygamma'
    is_elementwise = True

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('n', 'x'))
        n, x = in_types
        type_check.expect(n.dtype.kind == 'i', x.dtype.kind == 'f')
        type_check.expect_broadcast_shapes(n.shape, x.shape)

    @staticmethod
    def compose(n: chainerx.ndarray, x: chainerx.ndarray) -> chainerx.ndarray:
        # Integers are part of graphs here, too, but of no gradient.
        return chainerx.special.polygamma(n.as_grad_stopped(), x)


def polygamma(n: VariableLike, x: VariableLike) -> variable.Variable:
    """The ``n``-th derivative of `digamma`, elementwise.

    Args:
        n (Variable or array): Orders, of a signed integer dtype and any shape; NaN where one is
            negative.
        x (Variable or array): Of any shape, any float dtype. The two broadcast.

    Returns:
        Variable: The common shape, the dtype of ``x``. Differentiable in ``x``, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
    """
    return PolyGamma.call(n, x)
