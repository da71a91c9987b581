"""Indices of rows and keys of columns, checked once."""

from __future__ import annotations

import operator
import typing as tp

import numpy as np

Rows: tp.TypeAlias = 'slice | list[int] | None'


def to_rows(index: tp.Any, size: int) -> list[int] | slice:
    """A slice with bounds inside of ``size``, or a list of indices from 0."""
    if isinstance(index, slice):
        return _known(range(size)[index])
    if isinstance(index, int | np.integer):
        raise TypeError(f'slice takes a slice or a list of indices, not the number {index}')
    index = index.tolist() if isinstance(index, np.ndarray) else list(index)
    if index and all(isinstance(i, bool | np.bool_) for i in index):
        if len(index) != size:
            raise ValueError(f'{len(index)} booleans cannot choose among {size} rows')
        return [i for i, chosen in enumerate(index) if chosen]
    rows = []
    for i in map(operator.index, index):
        if not -size <= i < size:
            raise IndexError(f'index {i} is outside of {size} rows')
        rows.append(i + size if i < 0 else i)
    return rows


def compose(rows: list[int] | slice, indices: Rows, size: int) -> list[int] | slice:
    """Return rows ``indices`` of ``rows``, as indices into the ``size`` original rows."""
    if indices is None:
        return rows
    chosen = range(size)[rows] if isinstance(rows, slice) else rows
    if isinstance(indices, slice):
        part = chosen[indices]
        return _known(part) if isinstance(part, range) else part
    return [chosen[i] for i in indices]


def _known(rows: range) -> slice:
    if not rows:  # may begin at -1, which a slice takes for the last row
        return slice(0, 0)
    # A range that goes down to the first row has the end -1, which a slice takes for the last row.
    return slice(rows.start, rows.stop if rows.stop >= 0 else None, rows.step)


def count(indices: Rows, size: int) -> int:
    """How many of ``size`` rows are asked for."""
    if indices is None:
        return size
    return len(range(size)[indices] if isinstance(indices, slice) else indices)


def to_keys(keys: tp.Any, known: tuple[str, ...]) -> tuple[int, ...]:
    """The places of keys, which are given by name or place."""
    places = []
    for key in keys:
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            if not -len(known) <= key < len(known):
                raise IndexError(f'key {key} is outside of {len(known)} keys')
            places.append(int(key) % len(known))
        elif isinstance(key, str) and key in known:
            places.append(known.index(key))
        else:
            raise KeyError(f'there is no key {key!r} among {", ".join(map(repr, known))}')
    return tuple(places)
