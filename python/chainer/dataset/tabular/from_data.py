"""Datasets in columns, made of arrays, lists and functions."""

from __future__ import annotations

import itertools
import typing as tp

import numpy as np

from chainer.dataset.tabular import _index
from chainer.dataset.tabular._results import Mode, Results
from chainer.dataset.tabular.tabular_dataset import Columns, TabularDataset

_numbers = itertools.count()


class _Column(TabularDataset):
    """One column of an array or a list."""

    def __init__(self, key: str | None, data: tp.Any) -> None:
        self._key = f'_{next(_numbers)}' if key is None else key
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    @property
    def keys(self) -> tuple[str, ...]:
        return (self._key,)

    @property
    def mode(self) -> Mode:
        return None

    def get_examples(self, indices: _index.Rows, key_indices: tuple[int, ...] | None) -> Columns:
        data = self._data
        if indices is not None:
            if isinstance(indices, slice) or isinstance(data, np.ndarray):
                data = data[indices]
            else:
                data = [data[i] for i in indices]
        return (data,) * (1 if key_indices is None else len(key_indices))


class _Computed(TabularDataset):
    """Columns of a function of the index."""

    def __init__(self, keys: tp.Any, function: tp.Callable[[int], tp.Any], size: int) -> None:
        self._results = Results('from_data', keys)
        self._function = function
        self._size = size

    def __len__(self) -> int:
        return self._size

    @property
    def keys(self) -> tuple[str, ...]:
        return self._results.keys

    @property
    def mode(self) -> Mode:
        if self._size and not self._results.is_known:
            self.get_examples([0], None)
        return self._results.mode

    def get_examples(self, indices: _index.Rows, key_indices: tuple[int, ...] | None) -> Columns:
        rows: tp.Any = range(self._size)
        if isinstance(indices, slice):
            rows = rows[indices]
        elif indices is not None:
            rows = [rows[i] for i in indices]
        places = range(len(self.keys)) if key_indices is None else key_indices
        columns: tuple[list[tp.Any], ...] = tuple([] for _ in places)
        for i in rows:
            values = self._results.read(self._function(i))
            for column, place in zip(columns, places, strict=True):
                column.append(values[place])
        return columns


def from_data(data: tp.Any, *, size: int | None = None) -> TabularDataset:
    """Makes a dataset in columns.

    Args:
        data: An array or a list; a pair of a key and one of those, or of a key (or several) and a
            function of the index; a tuple of such; or a dict of them by key.
        size (int): The number of rows of functions, needed where all are functions.

    Returns:
        TabularDataset: Of single values, tuples or dicts, as ``data`` is; of what it returns, if
        ``data`` is a single function.

    Raises:
        ValueError: If lengths differ, a function has no key, or there are no data.

    >>> from_data({'x': [1, 2, 3], ('y', 'z'): lambda i: (i, -i)})[2]
    {'x': 3, 'y': 2, 'z': -2}
    """
    mode: Mode = None
    parts: list[tuple[tp.Any, tp.Any]] = [(None, data)]
    if isinstance(data, dict):
        mode, parts = dict, list(data.items())
    elif isinstance(data, tuple) and not _is_named(data):
        mode, parts = tuple, [part if _is_named(part) else (None, part) for part in data]
    elif isinstance(data, tuple):
        parts = [data]
    if not parts:
        raise ValueError('from_data: there are no data')
    if size is None:
        size = next((len(column) for _, column in parts if not callable(column)), None)
    datasets = [_make(key, column, size) for key, column in parts]
    if mode is None:
        return datasets[0]
    joined = datasets[0].join(*datasets[1:])
    return joined.asdict() if mode is dict else joined.astuple()


def _is_named(part: object) -> bool:
    if not isinstance(part, tuple) or len(part) != 2:
        return False
    key = part[0]
    return isinstance(key, str) or (
        isinstance(key, tuple) and bool(key) and all(isinstance(k, str) for k in key)
    )


def _make(key: tp.Any, column: tp.Any, size: int | None) -> TabularDataset:
    if not callable(column):
        return _Column(key, column)
    if key is None:
        raise ValueError('from_data: a function needs a key, or several')
    if size is None:
        raise ValueError('from_data: size is needed where all columns are functions')
    return _Computed(key, column, size)
