"""How often the largest score is that of the right class."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Accuracy(BuiltinFunction):
    """See `accuracy`."""

    check_uses_attributes = False

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 't'))
        x, t = in_types
        type_check.expect(x.dtype.kind == 'f', t.dtype.kind == 'i', x.ndim >= 2)
        ndim = type_check.eval(t.ndim)
        type_check.expect(
            x.ndim >= ndim, x.shape[0] == t.shape[0], x.shape[2 : ndim + 1] == t.shape[1:]
        )
        for axis in range(ndim + 1, type_check.eval(x.ndim)):
            type_check.expect(x.shape[axis] == 1)

    @staticmethod
    def compose(
        y: chainerx.ndarray, t: chainerx.ndarray, *, ignore_label: int | None = None
    ) -> chainerx.ndarray:
        if t.ndim < y.ndim - 1:
            t = t.reshape(t.shape + (1,) * (y.ndim - 1 - t.ndim))
        return chainerx.accuracy(y, t, ignore_label)


def accuracy(
    y: VariableLike, t: VariableLike, ignore_label: int | None = None
) -> variable.Variable:
    """The fraction of the examples whose largest score, along axis 1, is that of their class.

    Args:
        y (Variable or array): Scores, (N, classes, ...), any float dtype.
        t (Variable or array): Classes, any integer dtype; the shape of ``y`` without axis 1.
        ignore_label (int): Examples of this class are left out.

    Returns:
        Variable: 0-d, of the dtype of ``y``. Not differentiable: no gradient flows back.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
    """
    return Accuracy.call(y, t, ignore_label=ignore_label)
