"""The base of datasets."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer.dataset._chosen import to_indices

if tp.TYPE_CHECKING:
    from chainer._typing import Example


class DatasetMixin:
    """Base of datasets: it turns indices of all kinds into calls of `get_example`.

    A subclass has ``__len__`` and `get_example`.
    """

    def __getitem__(self, index: tp.Any) -> tp.Any:
        """An example, or a list of them for a slice, and for a list or an array of indices
        or booleans."""
        if isinstance(index, slice):
            return [self.get_example(i) for i in range(*index.indices(len(self)))]
        if isinstance(index, list | np.ndarray):
            return [self.get_example(i) for i in to_indices(index, len(self))]
        return self.get_example(index)

    def __len__(self) -> int:
        """The number of examples. Overridden."""
        raise NotImplementedError(f'{type(self).__name__}.__len__ is not implemented')

    def get_example(self, i: int) -> Example:
        """One example. Overridden.

        Args:
            i (int): Its index.
        """
        raise NotImplementedError(f'{type(self).__name__}.get_example is not implemented')
