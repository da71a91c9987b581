"""`create_empty_dataset`."""

from __future__ import annotations

import typing as tp

from chainer.datasets import TransformDataset

if tp.TYPE_CHECKING:
    from chainer._typing import Dataset


class _Lengths:
    """A dataset that is known by its length alone."""

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: tp.Any) -> tp.Any:
        return range(self._n)[index]


def create_empty_dataset(dataset: Dataset) -> TransformDataset:
    """Makes a dataset of as many examples, each an empty tuple.

    It is for processes whose part of a model takes no data, but messages of others: their trainers
    count iterations and epochs as all others do.

    Args:
        dataset: Has a length.

    Returns:
        TransformDataset: As long, without the data.
    """
    return TransformDataset(tp.cast(tp.Any, _Lengths(len(dataset))), _nothing)


def _nothing(example: object) -> tuple[()]:
    return ()
