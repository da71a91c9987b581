"""Datasets side by side, by name."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer.dataset._chosen import to_indices


class DictDataset:
    """A dataset of dicts, each item of which comes from a dataset of its own.

    Args:
        **datasets: Arrays, lists or datasets, all of the same length.

    Raises:
        ValueError: If there is none, or their lengths differ.
    """

    def __init__(self, **datasets: tp.Any) -> None:
        if not datasets:
            raise ValueError('no datasets are given')
        self._datasets = datasets
        first = next(iter(datasets))
        self._length = len(datasets[first])
        for key, dataset in datasets.items():
            if len(dataset) != self._length:
                raise ValueError(
                    f'DictDataset: dataset {key!r} has {len(dataset)} examples, {first!r} has '
                    f'{self._length}'
                )

    def __getitem__(self, index: object) -> tp.Any:
        """An example, or a list of them for a slice, and for a list or an array of indices
        or booleans."""
        if isinstance(index, list | np.ndarray):
            return [self[i] for i in to_indices(index, self._length)]
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._length))]
        return {key: dataset[index] for key, dataset in self._datasets.items()}

    def __len__(self) -> int:
        """The number of examples."""
        return self._length
