"""Normalization of rows."""

from __future__ import annotations

import typing as tp

from chainerx._core import _layer_norm

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class LayerNormalization(BuiltinFunction):
    """See `layer_normalization`."""

    check_uses_attributes = False
    compose = routine(_layer_norm, eps=1e-5)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 'gamma', 'beta'))
        x, gamma, beta = in_types
        type_check.expect(
            x.dtype.kind == 'f',
            gamma.dtype == x.dtype,
            beta.dtype == x.dtype,
            x.ndim == 2,
            gamma.ndim == 1,
            beta.shape == gamma.shape,
        )
        type_check.expect(x.shape[1] == gamma.shape[0])


def layer_normalization(
    x: VariableLike, gamma: VariableLike, beta: VariableLike, eps: float = 1e-5
) -> variable.Variable:
    """Normalizes each row of a matrix.

    Args:
        x (Variable or array): (n, units), any float dtype.
        gamma (Variable or array): Scale, (units,), of the same dtype.
        beta (Variable or array): Shift, (units,), of the same dtype.
        eps (float): Added to the variance; not negative.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable in all of them, any order.

    Raises:
        InvalidType: If shapes or dtypes do not fit.
        ValueError: If ``eps`` is negative.
    Source: Ba et al., AnyCallable Normalization, 2016.
    """
    return LayerNormalization.call(x, gamma, beta, eps=eps)
