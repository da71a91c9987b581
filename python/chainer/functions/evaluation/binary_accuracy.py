"""How often a score has the right sign."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class BinaryAccuracy(BuiltinFunction):
    """See `binary_accuracy`."""

    is_called = True

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 't'))
        x, t = in_types
        type_check.expect(x.dtype.kind == 'f', t.dtype.kind == 'i', t.shape == x.shape)

    @staticmethod
    def compose(y: chainerx.ndarray, t: chainerx.ndarray) -> chainerx.ndarray:
        known = t != -1
        right = ((y >= 0) == (t == 1)) & known
        # As v7: 0 where all are left out.
        total = chainerx.maximum(known.sum(), 1).astype('float64')
        return (right.sum().astype('float64') / total).astype(y.dtype)


def binary_accuracy(y: VariableLike, t: VariableLike) -> variable.Variable:
    """The fraction of the elements where ``y >= 0`` just if ``t`` is 1.

    Args:
        y (Variable or array): Scores; any shape, any float dtype.
        t (Variable or array): 0 or 1, or -1 for elements that are left out; the shape of ``y``.

    Returns:
        Variable: 0-d, of the dtype of ``y``. Not differentiable: no gradient flows back.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
    """
    return BinaryAccuracy.call(y, t)
