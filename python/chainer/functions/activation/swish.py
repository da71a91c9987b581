"""A self-gated activation."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Swish(BuiltinFunction):
    """See `swish`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 'beta'))
        x, beta = in_types
        type_check.expect(x.dtype.kind == 'f', beta.dtype == x.dtype, beta.ndim <= x.ndim - 1)
        type_check.expect(beta.shape == x.shape[1 : 1 + type_check.eval(beta.ndim)])

    @staticmethod
    def compose(x: chainerx.ndarray, beta: chainerx.ndarray) -> chainerx.ndarray:
        return chainerx.swish(x, as_channels(beta, x))


def as_channels(w: chainerx.ndarray, x: chainerx.ndarray) -> chainerx.ndarray:
    """Values for the axes of ``x`` after the first, in a shape that broadcasts with it."""
    return w.reshape((1, *w.shape, *(1,) * (x.ndim - 1 - w.ndim))) if x.ndim else w


def swish(x: VariableLike, beta: VariableLike) -> variable.Variable:
    """``x * sigmoid(beta * x)``.

    Args:
        x (Variable or array): (rows, ...), a float dtype.
        beta (Variable or array): The shape of the axes of ``x`` after the first, or of the first
            of these; the dtype of ``x``.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable in both, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Source: Ramachandran et al., 2017.
    """
    return Swish.call(x, beta)
