"""Contraction: the product of two arrays, summed over axes that they share."""

from __future__ import annotations

import math
import typing as tp

import chainerx

Label = tp.Hashable


def contract(
    a: chainerx.ndarray,
    a_labels: tp.Sequence[Label],
    b: chainerx.ndarray,
    b_labels: tp.Sequence[Label],
    kept: tp.Container[Label],
) -> tuple[chainerx.ndarray, list[Label]]:
    """Multiplies two arrays along axes of equal labels, which are summed over unless ``kept``.

    Returns:
        The product, and the labels of its axes. A matrix product does the work where any axis is
        summed over.
    """
    size = dict(zip(a_labels, a.shape, strict=True)) | dict(zip(b_labels, b.shape, strict=True))
    shared = [n for n in a_labels if n in b_labels]
    batch = [n for n in shared if n in kept]
    summed = [n for n in shared if n not in kept]
    left = [n for n in a_labels if n not in shared]
    right = [n for n in b_labels if n not in shared]

    def shape(*groups: list[Label]) -> tuple[int, ...]:
        return tuple(math.prod(size[n] for n in group) for group in groups)

    def each(labels: list[Label]) -> tuple[int, ...]:
        return tuple(size[n] for n in labels)

    a = permute(a, a_labels, batch + left + summed)
    b = permute(b, b_labels, batch + summed + right)
    if summed:
        y = chainerx.matmul(
            a.reshape(shape(batch, left, summed)), b.reshape(shape(batch, summed, right))
        )
    else:
        y = a.reshape((*shape(batch, left), 1)) * b.reshape((*shape(batch), 1, *shape(right)))
    return y.reshape(each(batch + left + right)), batch + left + right


def permute(
    x: chainerx.ndarray, labels: tp.Sequence[Label], order: tp.Sequence[Label]
) -> chainerx.ndarray:
    """The axes in another order."""
    labels = list(labels)
    return x if labels == list(order) else x.transpose([labels.index(n) for n in order])
