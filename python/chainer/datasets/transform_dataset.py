"""Datasets whose examples are changed on their way."""

from __future__ import annotations

import typing as tp

from chainer.dataset import DatasetMixin

if tp.TYPE_CHECKING:
    from chainer._typing import Dataset, Example


class TransformDataset(DatasetMixin):
    """A dataset whose examples a function computes from those of another one, on demand.

    Args:
        dataset: Has a length and examples by index.
        transform (callable): Of an example, as the dataset gives it.
    """

    def __init__(self, dataset: Dataset, transform: tp.Callable[[Example], Example]) -> None:
        self._dataset = dataset
        self._transform = transform

    def __len__(self) -> int:
        """The number of examples."""
        return len(self._dataset)

    def get_example(self, i: int) -> Example:
        """Return the result of the function for an example.

        Args:
            i (int): Its index.
        """
        return self._transform(self._dataset[i])
