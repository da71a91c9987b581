"""The base of datasets in columns, and the views that its methods make."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer.dataset import dataset_mixin
from chainer.dataset.convert import concat_columns
from chainer.dataset.tabular import _index
from chainer.dataset.tabular._results import Mode, Results

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, Example

# One name, several, or places of columns.
Keys: tp.TypeAlias = tp.Any
Columns: tp.TypeAlias = tuple[tp.Any, ...]


class TabularDataset(dataset_mixin.DatasetMixin):
    """Base of datasets in columns, each with a key.

    A subclass has ``__len__``, `keys`, `mode` and `get_examples`. The results of other methods read
    rows and columns on demand, and no others.

    >>> from chainer.dataset import tabular
    >>> dataset = tabular.from_data({'x': [1, 2, 3], 'y': [4, 5, 6]})
    >>> dataset.slice[1:, ('y',)].fetch()
    {'y': [5, 6]}
    """

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the columns. Overridden."""
        raise NotImplementedError(f'{type(self).__name__}.keys is not implemented')

    @property
    def mode(self) -> Mode:
        """The type of examples: tuple, dict, or None for a single value. Overridden."""
        raise NotImplementedError(f'{type(self).__name__}.mode is not implemented')

    def get_examples(self, indices: _index.Rows, key_indices: tuple[int, ...] | None) -> Columns:
        """Reads some columns of some rows. Overridden.

        Args:
            indices (list of int or slice): Rows; None for all.
            key_indices (tuple of int): Places of columns; None for all.

        Returns:
            tuple: An array or a list for each column.
        """
        raise NotImplementedError(f'{type(self).__name__}.get_examples is not implemented')

    def get_example(self, i: int) -> Example:
        """One row.

        Args:
            i (int): Its index.
        """
        return self._pack(tuple(column[0] for column in self.get_examples([i], None)))

    def __iter__(self) -> tp.Iterator[tp.Any]:
        """The rows, one after the other."""
        return (self.get_example(i) for i in range(len(self)))

    def fetch(self) -> tp.Any:
        """Reads all.

        Returns:
            tuple, dict, list or array: The columns, packed as an example is.
        """
        return self._pack(self.get_examples(None, None))

    def convert(self, data: tp.Any) -> tp.Any:
        """Makes arrays of columns, such as `fetch` returns.

        Args:
            data (tuple, dict or list): Columns, or one.

        Returns:
            tuple, dict or array: Arrays.
        """
        if isinstance(data, tuple):
            return tuple(concat_columns(column) for column in data)
        if isinstance(data, dict):
            return {key: concat_columns(column) for key, column in data.items()}
        return concat_columns(data)

    @property
    def slice(self) -> _Slicer:
        """Takes rows and columns: ``dataset.slice[1:10, ('x', 'y')]`` is a dataset of those."""
        return _Slicer(self)

    def astuple(self) -> TabularDataset:
        """The same with tuples as examples.

        Returns:
            TabularDataset: A view.
        """
        return _Mode(self, tuple)

    def asdict(self) -> TabularDataset:
        """The same with dicts as examples.

        Returns:
            TabularDataset: A view.
        """
        return _Mode(self, dict)

    def concat(self, *datasets: TabularDataset) -> TabularDataset:
        """The rows of several datasets, one dataset after the other.

        Args:
            *datasets: With the same keys.

        Returns:
            TabularDataset: A view.

        Raises:
            ValueError: If keys differ.
        """
        return _Concat(self, *datasets)

    def join(self, *datasets: TabularDataset) -> TabularDataset:
        """The columns of several datasets, side by side.

        Args:
            *datasets: With other keys, and as many rows.

        Returns:
            TabularDataset: A view, with the `convert` of this dataset. Its `mode` is the first one
            that is not None, or tuple.

        Raises:
            ValueError: If a key is there twice, or lengths differ.
        """
        return _Join(self, *datasets)

    def transform(self, keys: Keys, transform: AnyCallable) -> TabularDataset:
        """Columns that a function computes row by row, when they are asked for.

        Args:
            keys (str or tuple of str): Of the new columns.
            transform (callable): Takes the values of a row, by key if `mode` is dict. Returns a
                tuple or dict of values, or for a single key a value.

        Returns:
            TabularDataset: A view, with the `convert` of this dataset. What it reads is a
            ValueError where values are missing, or the function once returns a tuple and once a
            dict.
        """
        return _Transform(self, keys, transform)

    def transform_batch(self, keys: Keys, transform_batch: AnyCallable) -> TabularDataset:
        """Columns that a function computes for several rows at once, when they are asked for.

        Args:
            keys (str or tuple of str): Of the new columns.
            transform_batch (callable): As in `transform`, of columns. The new ones have as many
                rows.

        Returns:
            TabularDataset: As of `transform`.
        """
        return _TransformBatch(self, keys, transform_batch)

    def with_converter(self, converter: AnyCallable) -> TabularDataset:
        """The same with another `convert`.

        Args:
            converter (callable): Takes the columns, by key if they are a dict.

        Returns:
            TabularDataset: A view.
        """
        return _WithConverter(self, converter)

    def _pack(self, values: Columns) -> tp.Any:
        if self.mode is tuple:
            return values
        return dict(zip(self.keys, values, strict=True)) if self.mode is dict else values[0]


class View(TabularDataset):
    """A dataset made of another one; it behaves alike except where a subclass overrides it."""

    def __init__(self, dataset: TabularDataset) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.dataset)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the columns."""
        return self.dataset.keys

    @property
    def mode(self) -> Mode:
        """The type of examples."""
        return self.dataset.mode

    def get_examples(self, indices: _index.Rows, key_indices: tuple[int, ...] | None) -> Columns:
        """Reads some columns of some rows.

        Args:
            indices (list of int or slice): Rows; None for all.
            key_indices (tuple of int): Places of columns; None for all.
        """
        return self.dataset.get_examples(indices, key_indices)

    def convert(self, data: tp.Any) -> tp.Any:
        """Makes arrays of columns, as the dataset does.

        Args:
            data (tuple, dict or list): Columns, or one.
        """
        return self.dataset.convert(data)


class _Mode(View):
    def __init__(self, dataset: TabularDataset, mode: Mode) -> None:
        super().__init__(dataset)
        self._mode = mode

    @property
    def mode(self) -> Mode:
        return self._mode


class _WithConverter(View):
    def __init__(self, dataset: TabularDataset, converter: AnyCallable) -> None:
        super().__init__(dataset)
        self._converter = converter

    def convert(self, data: tp.Any) -> tp.Any:
        if isinstance(data, tuple):
            return self._converter(*data)
        return self._converter(**data) if isinstance(data, dict) else self._converter(data)


class _Slicer:
    """``dataset.slice``."""

    def __init__(self, dataset: TabularDataset) -> None:
        self._dataset = dataset

    def __getitem__(self, args: tp.Any) -> TabularDataset:
        rows, keys = args if isinstance(args, tuple) else (args, None)
        return _Slice(self._dataset, rows, keys)


class _Slice(View):
    def __init__(self, dataset: TabularDataset, rows: tp.Any, keys: Keys) -> None:
        super().__init__(dataset)
        self._size = len(dataset)
        self._rows = _index.to_rows(rows, self._size)
        self._single = isinstance(keys, str | int | np.integer)
        self._places: tuple[int, ...] | None = None
        if keys is not None:
            self._places = _index.to_keys([keys] if self._single else keys, dataset.keys)

    def __len__(self) -> int:
        rows = self._rows
        return len(range(self._size)[rows]) if isinstance(rows, slice) else len(rows)

    @property
    def keys(self) -> tuple[str, ...]:
        keys = self.dataset.keys
        return keys if self._places is None else tuple(keys[i] for i in self._places)

    @property
    def mode(self) -> Mode:
        if self._single:
            return None
        mode = self.dataset.mode
        return tuple if mode is None and self._places is not None else mode

    def get_examples(self, indices: _index.Rows, key_indices: tuple[int, ...] | None) -> Columns:
        places = self._places
        if places is None:
            places = key_indices
        elif key_indices is not None:
            places = tuple(places[i] for i in key_indices)
        rows = _index.compose(self._rows, indices, self._size)
        return self.dataset.get_examples(rows, places)


class _Join(View):
    def __init__(self, *datasets: TabularDataset) -> None:
        super().__init__(datasets[0])
        self._datasets = datasets
        self._keys = tuple(key for dataset in datasets for key in dataset.keys)
        if len(set(self._keys)) < len(self._keys):
            raise ValueError(f'join: keys must be unique: {", ".join(map(repr, self._keys))}')
        lengths = [len(dataset) for dataset in datasets]
        if len(set(lengths)) > 1:
            raise ValueError(f'join: datasets must be of the same length, not {lengths}')

    @property
    def keys(self) -> tuple[str, ...]:
        return self._keys

    @property
    def mode(self) -> Mode:
        modes = (dataset.mode for dataset in self._datasets)
        return next((mode for mode in modes if mode is not None), tuple)

    def get_examples(self, indices: _index.Rows, key_indices: tuple[int, ...] | None) -> Columns:
        if key_indices is None:
            return tuple(c for d in self._datasets for c in d.get_examples(indices, None))
        columns: dict[int, object] = {}
        first = 0
        for dataset in self._datasets:
            end = first + len(dataset.keys)
            if here := tuple(i for i in dict.fromkeys(key_indices) if first <= i < end):
                found = dataset.get_examples(indices, tuple(i - first for i in here))
                columns.update(zip(here, found, strict=True))
            first = end
        return tuple(columns[i] for i in key_indices)


class _Concat(View):
    def __init__(self, *datasets: TabularDataset) -> None:
        super().__init__(datasets[0])
        self._datasets = datasets
        for dataset in datasets[1:]:
            if dataset.keys != datasets[0].keys:
                raise ValueError(f'concat: keys differ: {datasets[0].keys} and {dataset.keys}')

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._datasets)

    def get_examples(self, indices: _index.Rows, key_indices: tuple[int, ...] | None) -> Columns:
        rows: tp.Any = range(len(self))
        if isinstance(indices, slice):
            rows = rows[indices]
        elif indices is not None:
            rows = [rows[i] for i in indices]
        n_columns = len(self.keys) if key_indices is None else len(key_indices)
        columns: list[list[tp.Any]] = [[None] * len(rows) for _ in range(n_columns)]
        first = 0
        for dataset in self._datasets:
            end = first + len(dataset)
            places = [i for i, row in enumerate(rows) if first <= row < end]
            if places:
                here = [rows[i] - first for i in places]
                found = dataset.get_examples(here, key_indices)
                if len(places) == len(rows):  # columns of one dataset stay unchanged
                    return found
                for column, values in zip(columns, found, strict=True):
                    for place, value in zip(places, values, strict=True):
                        column[place] = value
            first = end
        return tuple(columns)


class _Computed(View):
    """Columns that a function gives; whether as tuple, dict or value shows when it is called."""

    _owner: str

    def __init__(self, dataset: TabularDataset, keys: Keys, function: AnyCallable) -> None:
        super().__init__(dataset)
        self._results = Results(self._owner, keys)
        self._function = function

    @property
    def keys(self) -> tuple[str, ...]:
        return self._results.keys

    @property
    def mode(self) -> Mode:
        if len(self) and not self._results.is_known:
            self.get_examples([0], None)
        return self._results.mode

    def _call(self, values: Columns) -> Columns:
        if self.dataset.mode is dict:
            named = dict(zip(self.dataset.keys, values, strict=True))
            return self._results.read(self._function(**named))
        return self._results.read(self._function(*values))


class _Transform(_Computed):
    _owner = 'transform'

    def get_examples(self, indices: _index.Rows, key_indices: tuple[int, ...] | None) -> Columns:
        source = self.dataset.get_examples(indices, None)
        places = range(len(self.keys)) if key_indices is None else key_indices
        columns: tuple[list[tp.Any], ...] = tuple([] for _ in places)
        for values in zip(*source, strict=True):
            results = self._call(values)
            for column, place in zip(columns, places, strict=True):
                column.append(results[place])
        return columns


class _TransformBatch(_Computed):
    _owner = 'transform_batch'

    def get_examples(self, indices: _index.Rows, key_indices: tuple[int, ...] | None) -> Columns:
        columns = self._call(self.dataset.get_examples(indices, None))
        size = _index.count(indices, len(self.dataset))
        for key, column in zip(self.keys, columns, strict=True):
            if len(column) != size:
                raise ValueError(
                    f'transform_batch: column {key!r} has {len(column)} values for {size} rows'
                )
        return columns if key_indices is None else tuple(columns[i] for i in key_indices)
