"""The loss of triplets."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import engine

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.functions._precision import narrowed, widened
from chainer.functions.loss._reduction import check_reduce, mean
from chainer.functions.loss.contrastive import check_margin
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


def _compute(
    anchor: chainerx.ndarray,
    positive: chainerx.ndarray,
    negative: chainerx.ndarray,
    margin: float,
    reduce: str,
) -> chainerx.ndarray:
    inputs = anchor, positive, negative
    losses = chainerx.relu(_excess(*map(widened, inputs)) + margin)
    return narrowed(losses if reduce == 'no' else mean(losses, max(len(anchor), 1)), *inputs)


def _excess(
    anchor: chainerx.ndarray, positive: chainerx.ndarray, negative: chainerx.ndarray
) -> chainerx.ndarray:
    """``|a - p|^2 - |a - n|^2`` of each row, as one product."""
    return ((negative - positive) * (anchor * 2 - positive - negative)).sum(axis=1)


def _gradient(
    gy: chainerx.ndarray,
    needed: tuple[bool, ...],
    inputs: tuple[chainerx.ndarray, ...],
    y: None,
    margin: float,
    reduce: str,
) -> tuple[chainerx.ndarray | None, ...]:
    (anchor, positive, negative), gy = map(widened, inputs), widened(gy)
    if reduce == 'mean':
        gy = gy / max(len(anchor), 1)
    excess = _excess(*(x.as_grad_stopped() for x in (anchor, positive, negative)))
    scale = chainerx.expand_dims(chainerx.where(excess + margin >= 0, gy * 2, 0), 1)
    pairs = ((negative, positive), (positive, anchor), (anchor, negative))
    return tuple(
        narrowed((x0 - x1) * scale, x) if wanted else None
        for (x0, x1), x, wanted in zip(pairs, inputs, needed, strict=True)
    )


class Triplet(BuiltinFunction):
    """See `triplet`."""

    check_uses_attributes = False

    def _prepare(self) -> None:
        check_margin('triplet', self.margin)
        check_reduce('triplet', self.reduce)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('anchor', 'positive', 'negative'))
        anchor, positive, negative = in_types
        type_check.expect(anchor.dtype.kind == 'f', anchor.ndim == 2)
        for x in (positive, negative):
            type_check.expect(x.dtype == anchor.dtype, x.shape == anchor.shape)

    compose = routine(
        engine.WithGradient('triplet', _compute, _gradient, n_params=2), margin=..., reduce='mean'
    )


def triplet(
    anchor: VariableLike,
    positive: VariableLike,
    negative: VariableLike,
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
    return Triplet.call(anchor, positive, negative, margin=margin, reduce=reduce)
