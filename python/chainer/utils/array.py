"""Shapes of arrays of any kind."""

from __future__ import annotations

import math
import typing as tp

import chainerx
import numpy as np
from chainerx._core import engine

from chainer import backend

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray


def as_vec(x: NdArray) -> NdArray:
    """All elements in one dimension."""
    return x.ravel()


def as_mat(x: NdArray) -> NdArray:
    """All dimensions after the first joined into one."""
    if x.ndim == 2:
        return x
    if x.ndim == 0:
        raise TypeError('as_mat: x has no dimensions')
    return x.reshape(len(x), size_of_shape(x.shape[1:]))


def empty_like(x: NdArray) -> NdArray:
    """An uninitialized array of the same shape, dtype and device."""
    if isinstance(x, chainerx.ndarray):
        return chainerx.empty_like(x, device=x.device)
    xp = backend.get_array_module(x)
    return (np if xp is chainerx else xp).empty_like(x)


def size_of_shape(shape: tp.Iterable[int]) -> int:
    """The number of elements of an array of that shape.

    Args:
        shape (iterable of int): Lengths of axes.

    Returns:
        int: 1 for no axes.
    """
    return int(math.prod(shape))


def sum_to(x: NdArray, shape: tuple[int, ...]) -> NdArray:
    """Sums an array over the axes along which ``shape`` would be broadcast to its shape.

    Args:
        x (array): Of any kind and dtype.
        shape (tuple of int): One that broadcasts to that of ``x``.

    Returns:
        array: ``x`` itself if it has the shape.

    Raises:
        TypeError: For a Variable, unless there is nothing to sum.
        ValueError: If ``shape`` can't be broadcast to the shape of ``x``.
    """
    if x.shape == shape:
        return x
    if isinstance(x, engine.Variable):
        raise TypeError(
            'chainer.utils.sum_to does not support Variable input. '
            'Use chainer.functions.sum_to instead.'
        )
    lead = x.ndim - len(shape)
    if lead < 0 or any(
        n not in (1, m) for m, n in zip(x.shape[max(lead, 0) :], shape, strict=False)
    ):
        raise ValueError(f'sum_to: shape {shape} cannot be broadcast to {x.shape}, the shape of x')
    axes = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(shape) if n == 1)
    return x.sum(axis=axes, keepdims=True).reshape(shape)
