"""Selects examples of a dataset by lists and arrays: by index, or by a boolean for each."""

from __future__ import annotations

import collections.abc
import typing as tp

import numpy as np


def to_indices(index: tp.Sequence[int] | np.ndarray, size: int) -> collections.abc.Sequence[tp.Any]:
    """Return the indices in a list or an array, or those of the true elements of a boolean one.

    Args:
        index (list or numpy.ndarray): Numbers of Python are made of NumPy's.
        size (int): The number of examples.

    Raises:
        IndexError: If there is another number of booleans than of examples.
    """
    items = index.tolist() if isinstance(index, np.ndarray) else index
    if not (items and all(isinstance(i, bool | np.bool_) for i in items)):
        return [i.item() if isinstance(i, np.generic) else i for i in items]
    if len(items) != size:
        raise IndexError(f'{len(items)} booleans cannot choose among {size} examples')
    return [i for i, is_chosen in enumerate(items) if is_chosen]
