"""Indices of examples."""

from __future__ import annotations

import operator
import typing as tp

if tp.TYPE_CHECKING:
    from chainer._typing import Dataset


def from_start(dataset: Dataset, i: int) -> int:
    """An index counted from the start, for one that may count from the end.

    Raises:
        IndexError: If it is outside.
        TypeError: If it is no integer.
    """
    i, n = operator.index(i), len(dataset)
    if not -n <= i < n:
        raise IndexError(f'{type(dataset).__name__}: index {i} is out of range for {n} examples')
    return i % n
