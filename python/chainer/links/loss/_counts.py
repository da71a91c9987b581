"""How often classes occur, of which samples are drawn."""

from __future__ import annotations

import typing as tp

import numpy as np

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike


def to_counts(owner: str, counts: tp.Sequence[float], dtype: DTypeLike) -> np.ndarray:
    """The counts that a link was given.

    Args:
        owner: The link.
        counts: A number for each class.
        dtype: That of the result.

    Returns:
        ndarray: The same.

    Raises:
        ValueError: If one is negative or not finite, or none is greater than 0.
    """
    array = np.array(counts, dtype)
    bad = np.flatnonzero(~((array >= 0) & (array < np.inf)))
    if bad.size:
        value = array.flat[bad[0]]
        raise ValueError(
            f'{owner}: counts[{bad[0]}] is {value}, expected a finite number of at least 0'
        )
    if not array.any():
        raise ValueError(f'{owner}: the sum of counts is {array.sum()}, expected more than 0')
    return array
