"""Drawing categories and simplices from `numpy.random`, in the order in which v7 did."""

from __future__ import annotations

import math

import numpy as np


def categories(p: np.ndarray, n: int) -> np.ndarray:
    """Draws integers as `numpy.random.choice` does for one row of ``p`` after the other.

    Args:
        p (numpy.ndarray): Probabilities, ``batch + (categories,)``.
        n (int): How many to draw for each row.

    Returns:
        numpy.ndarray: ``(n,) + batch``, int64.
    """
    batch, count = p.shape[:-1], p.shape[-1]
    rows = p.reshape(math.prod(batch), count)
    sums = rows.astype(np.float64).cumsum(axis=1)
    sums /= sums[:, -1:]
    numbers = np.random.random_sample((len(rows), n))
    return np.ascontiguousarray(_count_up_to(sums, numbers).T).reshape(n, *batch)


def _count_up_to(sums: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """For each number how many of its row's ascending ``sums`` are at most that: bisection."""
    low = np.zeros(numbers.shape, np.int64)
    high = np.full(numbers.shape, sums.shape[1], np.int64)
    for _ in range(sums.shape[1].bit_length()):
        middle = (low + high) >> 1
        open_ = low < high
        at = np.take_along_axis(sums, np.minimum(middle, sums.shape[1] - 1), axis=1)
        above = open_ & (at <= numbers)
        low = np.where(above, middle + 1, low)
        high = np.where(open_ & ~above, middle, high)
    return low


def simplices(alpha: np.ndarray, n: int) -> np.ndarray:
    """Draws as `numpy.random.dirichlet` does for one row of ``alpha`` after the other.

    Args:
        alpha (numpy.ndarray): Concentrations, ``batch + (elements,)``.
        n (int): How many to draw for each row.

    Returns:
        numpy.ndarray: ``(n,) + batch + (elements,)``, float64.
    """
    batch, count = alpha.shape[:-1], alpha.shape[-1]
    rows = alpha.reshape(math.prod(batch), count).astype(np.float64)
    parts = np.random.standard_gamma(rows[:, None, :], size=(len(rows), n, count))
    total = parts.sum(axis=-1, keepdims=True)
    lost = total[..., 0] == 0
    if lost.any():  # all underflow for tiny alpha, of which the limit is one of the corners
        row = np.nonzero(lost)[0]
        corner = categories((rows / rows.sum(axis=1, keepdims=True))[row], 1)[0]
        parts[lost] = np.eye(count)[corner]
        total[lost] = 1
    return np.moveaxis(parts / total, 1, 0).reshape(n, *batch, count)
