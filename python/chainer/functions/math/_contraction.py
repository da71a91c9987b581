"""Contraction: the product of two arrays, summed over axes that they share."""

from __future__ import annotations

import math
import typing as tp

import chainerx
from chainerx._core import engine

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


def sum_out(
    x: chainerx.ndarray, labels: tp.Sequence[Label], kept: tp.Container[Label]
) -> tuple[chainerx.ndarray, list[Label]]:
    """Sums over the axes whose labels are not ``kept``."""
    axes = tuple(n for n, name in enumerate(labels) if name not in kept)
    return (x.sum(axes) if axes else x), [n for n in labels if n in kept]


def _compute(
    a: chainerx.ndarray,
    b: chainerx.ndarray,
    a_labels: list[Label],
    b_labels: list[Label],
    out: list[Label],
) -> chainerx.ndarray:
    a, a_labels = sum_out(a, a_labels, {*out, *b_labels})
    b, b_labels = sum_out(b, b_labels, {*out, *a_labels})
    y, labels = contract(a, a_labels, b, b_labels, out)
    return permute(y, labels, out)


def _gradient(
    gy: chainerx.ndarray,
    needed: tuple[bool, ...],
    inputs: tuple[chainerx.ndarray, ...],
    y: None,
    a_labels: list[Label],
    b_labels: list[Label],
    out: list[Label],
) -> tuple[chainerx.ndarray | None, ...]:
    a, b = inputs
    return (
        _gradient_of(a, a_labels, gy, out, b, b_labels) if needed[0] else None,
        _gradient_of(b, b_labels, gy, out, a, a_labels) if needed[1] else None,
    )


def _gradient_of(
    x: chainerx.ndarray,
    labels: list[Label],
    gy: chainerx.ndarray,
    out: list[Label],
    other: chainerx.ndarray,
    other_labels: list[Label],
) -> chainerx.ndarray:
    found = [n for n in labels if n in out or n in other_labels]
    gx = product(gy, other, out, other_labels, found)
    if found == labels:
        return gx
    # Along axes that were summed over first, it is the same everywhere.
    shape = [m if n in found else 1 for n, m in zip(labels, x.shape, strict=True)]
    return chainerx.broadcast_to(gx.reshape(shape), x.shape)


_product = engine.WithGradient('contract', _compute, _gradient, n_params=3)


def product(
    a: chainerx.ndarray,
    b: chainerx.ndarray,
    a_labels: list[Label],
    b_labels: list[Label],
    out: list[Label],
) -> chainerx.ndarray:
    """The sum of products over all labels that are not in ``out``; those of one array differ.

    Keeps the arrays for backward, but not the transposed copies and sums of them.
    """
    summed = [n for n in a_labels if n in b_labels and n not in out]
    left = [n for n in a_labels if n not in b_labels]
    right = [n for n in b_labels if n not in a_labels]
    if (
        out == left + right
        and a_labels == left + summed
        and b_labels == summed + right
        and a.is_contiguous
        and b.is_contiguous
    ):
        return contract(a, a_labels, b, b_labels, out)[0]  # makes views only
    return _product(a, b, a_labels, b_labels, out)


def chain_gradient(
    gy: chainerx.ndarray,
    needed: tuple[bool, ...],
    inputs: tuple[chainerx.ndarray, ...],
    y: None,
    labels: list[list[Label]],
    kept: list[list[Label]],
) -> tuple[chainerx.ndarray | None, ...]:
    """The gradients of `chain`, which makes its products again."""
    last = len(inputs) - 1
    lefts = [inputs[0]]
    left_labels = [labels[0], *kept]
    for n in range(1, last):
        lefts.append(product(lefts[-1], inputs[n], left_labels[n - 1], labels[n], left_labels[n]))
    gxs: list[chainerx.ndarray | None] = [None] * len(inputs)
    for n in range(last, 0, -1):
        left, names = lefts[n - 1], left_labels[n - 1]
        if needed[n]:
            gxs[n] = _gradient_of(inputs[n], labels[n], gy, left_labels[n], left, names)
        if not any(needed[:n]):
            break
        gy = _gradient_of(left, names, gy, left_labels[n], inputs[n], labels[n])
    if needed[0]:
        gxs[0] = gy
    return tuple(gxs)


def chain(*args: tp.Any) -> chainerx.ndarray:
    """The product of all arrays, from left to right: arrays, labels of each, labels of products."""
    *xs, labels, kept = args
    y, names = xs[0], labels[0]
    for x, x_names, y_names in zip(xs[1:], labels[1:], kept, strict=True):
        y, names = product(y, x, names, x_names, y_names), y_names
    return y


# Keeps none of the products of some of the arrays.
long_chain = engine.WithGradient('einsum', chain, chain_gradient, n_params=2)
