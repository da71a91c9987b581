"""The loss of triplets."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._builtin import BuiltinFunction
from chainer.functions.loss._reduction import check_reduce, mean
from chainer.functions.loss.contrastive import check_margin
from chainer.utils import type_check


class Triplet(BuiltinFunction):
    """See `triplet`."""

    attributes: tp.ClassVar = {'margin': 0.2, 'reduce': 'mean'}
    check_uses_attributes = False
    margin: float
    reduce: str

    def __init__(self, *args: tp.Any, **kwargs: tp.Any) -> None:
        super().__init__(*args, **kwargs)
        check_margin('triplet', self.margin)
        check_reduce('triplet', self.reduce)

    def check_type_forward(self, in_types: tp.Any) -> None:
        type_check._argname(in_types, ('anchor', 'positive', 'negative'))
        anchor, positive, negative = in_types
        type_check.expect(anchor.dtype.kind == 'f', anchor.ndim == 2)
        for x in (positive, negative):
            type_check.expect(x.dtype == anchor.dtype, x.shape == anchor.shape)

    @staticmethod
    def compose(
        anchor: chainerx.ndarray,
        positive: chainerx.ndarray,
        negative: chainerx.ndarray,
        margin: float,
        reduce: str,
    ) -> chainerx.ndarray:
        # |a - p|^2 - |a - n|^2, as one product.
        excess = (negative - positive) * (anchor * 2 - positive - negative)
        losses = chainerx.relu(excess.sum(axis=1) + margin)
        return losses if reduce == 'no' else mean(losses, max(len(anchor), 1))


def triplet(
    anchor: tp.Any,
    positive: tp.Any,
    negative: tp.Any,
    margin: float = 0.2,
    reduce: str = 'mean',
) -> variable.Variable:
    """The loss of triplets, ``max(0, |a - p| ** 2 - |a - n| ** 2 + margin)`` for each row.

    Args:
        anchor (Variable or array): (rows, features), a float dtype.
        positive (Variable or array): Of the class of the anchor; same shape and dtype.
        negative (Variable or array): Of another class; same shape and dtype.
        margin (float): See above; positive.
        reduce (str): 'mean', or 'no' for the losses themselves.

    Returns:
        Variable: One number, or (rows,). Differentiable in all of them, any order.

    Raises:
        InvalidType: If dtypes or shapes differ.
        ValueError: For an unknown ``reduce``, or if ``margin`` is not positive.

    Source: Schroff et al., CVPR 2015.
    """
    check_margin('triplet', margin)
    check_reduce('triplet', reduce)
    return Triplet.call(anchor, positive, negative, margin, reduce)
