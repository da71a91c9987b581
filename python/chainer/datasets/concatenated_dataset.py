"""Datasets one after the other."""

from __future__ import annotations

import bisect
import itertools
import typing as tp

from chainer.dataset import DatasetMixin
from chainer.datasets._indices import from_start

if tp.TYPE_CHECKING:
    from chainer._typing import Dataset, Example


class ConcatenatedDataset(DatasetMixin):
    """All examples of several datasets, one dataset after the other.

    Args:
        *datasets: Have a length and examples by index.
    """

    def __init__(self, *datasets: Dataset) -> None:
        self._datasets = datasets

    def __len__(self) -> int:
        """The number of examples of all of them."""
        return sum(len(dataset) for dataset in self._datasets)

    def get_example(self, i: int) -> Example:
        """An example.

        Args:
            i (int): Its index; negative ones count from the end.

        Raises:
            IndexError: If it is outside.
        """
        i = from_start(self, i)
        ends = list(itertools.accumulate(len(dataset) for dataset in self._datasets))
        k = bisect.bisect_right(ends, i)
        return self._datasets[k][i - (ends[k - 1] if k else 0)]
