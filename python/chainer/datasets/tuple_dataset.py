"""Datasets side by side."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer.dataset._chosen import to_indices

if tp.TYPE_CHECKING:
    from chainer._typing import Dataset


class TupleDataset:
    """A dataset of tuples, each item of which comes from a dataset of its own.

    Args:
        *datasets: Arrays, lists or datasets, all of the same length.

    Raises:
        ValueError: If there is none, or their lengths differ.
    """

    def __init__(self, *datasets: Dataset) -> None:
        if not datasets:
            raise ValueError('no datasets are given')
        self._datasets = datasets
        self._length = len(datasets[0])
        for i, dataset in enumerate(datasets):
            if len(dataset) != self._length:
                raise ValueError(
                    f'TupleDataset: dataset of index {i} has {len(dataset)} examples, that of '
                    f'index 0 has {self._length}'
                )

    def __getitem__(self, index: object) -> tp.Any:
        """An example, or a list of them for a slice, and for a list or an array of indices
        or booleans."""
        if isinstance(index, (list, np.ndarray)):  # a union would be made anew each time
            return [self[i] for i in to_indices(index, self._length)]
        parts = tuple([dataset[index] for dataset in self._datasets])
        if isinstance(index, slice):
            return [tuple(part[i] for part in parts) for i in range(len(parts[0]))]
        return parts

    def __len__(self) -> int:
        """The number of examples."""
        return self._length
