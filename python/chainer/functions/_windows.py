"""Arguments of functions whose windows move along the axes of images."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

if tp.TYPE_CHECKING:
    from chainer._typing import PerAxis


def per_axis(op: str, name: str, value: PerAxis, axes: int) -> tuple[int, ...]:
    """A number for each spatial axis.

    Args:
        op (str): The function, for the error.
        name (str): The argument, likewise.
        value (int or sequence of int): One for all axes, or one for each.
        axes (int): How many there are.

    Returns:
        tuple of int: As many as there are axes.

    Raises:
        TypeError: If it is neither a number nor a sequence.
        ValueError: If it has another length.
    """
    # The most frequent arguments take the cheapest path.
    if type(value) is tuple and len(value) == axes:
        return value
    if type(value) is int:
        return (value,) * axes
    if isinstance(value, int | np.integer):
        return (int(value),) * axes
    try:
        numbers = tuple(value)
    except TypeError:
        raise TypeError(f'{op}: {name} is {value!r}, expected an int or {axes} of them') from None
    if len(numbers) != axes:
        raise ValueError(f'{op}: {name} is {value!r}, expected an int or {axes} of them')
    return numbers


def windows(
    x: chainerx.ndarray,
    ksize: tuple[int, int],
    stride: tuple[int, int],
    outsize: tuple[int, int],
    dilate: tuple[int, int] = (1, 1),
) -> chainerx.ndarray:
    """Gathers the windows on images into columns (im2col).

    Args:
        x (ndarray): (N, C, H, W), with room for all windows.
        ksize (pair of int): Height and width of the window, at least 1.
        stride (pair of int): Its steps.
        outsize (pair of int): How many steps there are.
        dilate (pair of int): Distance of its elements.

    Returns:
        ndarray: (N, C, kh * kw, out_h, out_w), a copy.
    """
    rows, columns = (
        [slice(i * d, max(i * d, i * d + s * (n - 1) + 1), s) for i in range(k)]
        for k, s, n, d in zip(ksize, stride, outsize, dilate, strict=True)
    )
    return chainerx.stack([x[:, :, row, column] for row in rows for column in columns], axis=2)
