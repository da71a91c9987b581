"""The arguments of poolings: an int for all axes, or one for each."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer import variable

if tp.TYPE_CHECKING:
    from chainer._typing import PerAxis, VariableLike


def to_tuple(op: str, name: str, value: PerAxis, n: int) -> tuple[int, ...]:
    """``n`` integers.

    Raises:
        TypeError: If ``value`` is neither an int nor a sequence of them.
        ValueError: If it has another number of them.
    """
    if isinstance(value, int | np.integer):
        return (int(value),) * n
    try:
        values = tuple(value)
    except TypeError:
        values = ()
    if not values or not all(isinstance(v, int | np.integer) for v in values):
        raise TypeError(f'{op}: {name} is {value!r}, expected an int or a tuple of int')
    if len(values) != n:
        raise ValueError(f'{op}: {name} is {value!r}, expected {n} numbers')
    return tuple(int(v) for v in values)


def to_geometry(
    op: str, n: int, ksize: PerAxis, stride: PerAxis | None, pad: PerAxis
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The size of the window, its stride and the padding, ``n`` integers each."""
    size = to_tuple(op, 'ksize', ksize, n)
    return (
        size,
        size if stride is None else to_tuple(op, 'stride', stride, n),
        to_tuple(op, 'pad', pad, n),
    )


def count_spatial(op: str, x: VariableLike, n: int | None = None) -> int:
    """How many axes ``x`` has behind that of channels.

    Raises:
        ValueError: If there is none, or not ``n``.
    """
    ndim = (x if hasattr(x, 'ndim') else variable.as_variable(x)).ndim - 2
    if n is not None and ndim != n:
        raise ValueError(f'{op}: x has {ndim} axes behind that of channels, expected {n}')
    if ndim < 1:
        raise ValueError(f'{op}: pooling operation requires at least one spatial dimension')
    return ndim
