"""Arrays whose elements differ, so that a permutation shows."""

from __future__ import annotations

import math
import typing as tp

import numpy as np


def increasing(*shape: int, dtype: tp.Any = np.float32) -> np.ndarray:
    """Whole numbers that grow from about minus half the size on, ``-n // 2, ...``.

    Args:
        *shape (int): The shape.
        dtype: The dtype.

    Returns:
        numpy.ndarray: The array.
    """
    n = math.prod(shape)
    return np.arange(-(n // 2), n - n // 2).reshape(shape).astype(dtype)


def nonzero_increasing(*shape: int, dtype: tp.Any = np.float32, bias: float = 1e-7) -> np.ndarray:
    """As `increasing`, plus ``bias``; of an integer dtype, 0 is left out.

    Args:
        *shape (int): The shape.
        dtype: The dtype.
        bias (float): What is added.

    Returns:
        numpy.ndarray: The array.
    """
    x = increasing(*shape, dtype=np.int64)
    if np.issubdtype(dtype, np.integer):
        return np.where(x >= 0, x + 1, x).astype(dtype)
    return (x + bias).astype(dtype)


def positive_increasing(*shape: int, dtype: tp.Any = np.float32, bias: float = 1e-7) -> np.ndarray:
    """Numbers from 0 on, plus ``bias``; of an integer dtype, from 1 on.

    Args:
        *shape (int): The shape.
        dtype: The dtype.
        bias (float): What is added.

    Returns:
        numpy.ndarray: The array.
    """
    x = np.arange(math.prod(shape)).reshape(shape)
    return (x + (1 if np.issubdtype(dtype, np.integer) else bias)).astype(dtype)


def shaped_range(*shape: int, dtype: tp.Any = np.float32) -> np.ndarray:
    """Whole numbers from 0 on.

    Args:
        *shape (int): The shape.
        dtype: The dtype.

    Returns:
        numpy.ndarray: The array.
    """
    return np.arange(math.prod(shape)).reshape(shape).astype(dtype)
