"""The rectifier with a slope that is learnt."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.activation.swish import as_channels
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class PReLUFunction(BuiltinFunction):
    """See `prelu`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 'W'))
        x, w = in_types
        type_check.expect(x.dtype.kind == 'f', w.dtype == x.dtype, x.ndim >= w.ndim + 1)
        type_check.expect(x.shape[1 : 1 + type_check.eval(w.ndim)] == w.shape)

    @staticmethod
    def compose(x: chainerx.ndarray, w: chainerx.ndarray) -> chainerx.ndarray:
        return chainerx.prelu(x, as_channels(w, x))


def prelu(x: VariableLike, W: VariableLike) -> variable.Variable:
    """``x`` where not negative, ``W * x`` elsewhere.

    Args:
        x (Variable or array): (rows, ...), a float dtype.
        W (Variable or array): The shape of the axes of ``x`` after the first, or of the first of
            these; the dtype of ``x``.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable in both, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Source: He et al., ICCV 2015.
    """
    return PReLUFunction.call(x, W)
