"""Cross entropy of sigmoid scores and labels."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.loss._reduction import check_reduce, mean
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class SigmoidCrossEntropy(BuiltinFunction):
    """See `sigmoid_cross_entropy`."""

    check_uses_attributes = False

    def _prepare(self) -> None:
        check_reduce('sigmoid_cross_entropy', self.reduce)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 't'))
        x, t = in_types
        type_check.expect(x.dtype.kind == 'f', t.dtype.kind == 'i', x.shape == t.shape)

    @staticmethod
    def compose(
        x: chainerx.ndarray, t: chainerx.ndarray, *, normalize: bool = True, reduce: str = 'mean'
    ) -> chainerx.ndarray:
        losses = chainerx.sigmoid_cross_entropy(x, t)
        if reduce == 'no':
            return losses
        return mean(losses, chainerx.maximum((t != -1).sum(), 1) if normalize else max(len(x), 1))


def sigmoid_cross_entropy(
    x: VariableLike, t: VariableLike, normalize: bool = True, reduce: str = 'mean'
) -> variable.Variable:
    """The cross entropy of ``sigmoid(x)`` and labels.

    Args:
        x (Variable or array): Scores, any shape, a float dtype.
        t (Variable or array): Labels, of the same shape, integers: 0 or 1, or -1 where the loss is
            0.
        normalize (bool): Whether the mean is over the labels that are not -1; else the sum is
            divided by the number of rows.
        reduce (str): 'mean', or 'no' for the losses themselves.

    Returns:
        Variable: 0-d, or the shape of ``x``; its dtype. Differentiable in ``x``, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: For an unknown ``reduce``.
    """
    check_reduce('sigmoid_cross_entropy', reduce)
    return SigmoidCrossEntropy.call(x, t, normalize=normalize, reduce=reduce)
