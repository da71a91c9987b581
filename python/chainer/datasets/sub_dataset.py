"""Parts of a dataset: ranges of an order of its examples."""

from __future__ import annotations

import itertools
import operator
import typing as tp

import numpy as np

from chainer.dataset import DatasetMixin
from chainer.datasets._indices import from_start

if tp.TYPE_CHECKING:
    from chainer._typing import Dataset, Example, Order


class SubDataset(DatasetMixin):
    """The examples in a range of a dataset, or of an order of it.

    Args:
        dataset: The whole; has a length and examples by index.
        start (int): Where the range begins.
        finish (int): Where it ends, without that.
        order (sequence of ints): Which example of the dataset stands where; None for its own order.

    Raises:
        ValueError: If the range is not within the dataset, or the order has another length.
    """

    def __init__(
        self, dataset: Dataset, start: int, finish: int, order: Order | None = None
    ) -> None:
        n = len(dataset)
        if not 0 <= start <= finish <= n:
            raise ValueError(
                f'SubDataset: [{start}, {finish}) is no range of a dataset of {n} examples'
            )
        if order is not None and len(order) != n:
            raise ValueError(
                f'SubDataset: order has {len(order)} indices for a dataset of {n} examples'
            )
        self._dataset = dataset
        self._start = start
        self._finish = finish
        self._order = order

    def __len__(self) -> int:
        """The number of examples."""
        return self._finish - self._start

    def get_example(self, i: int) -> Example:
        """The example at a place of the range.

        Args:
            i (int): Its place; negative ones count from the end.

        Raises:
            IndexError: If it is outside.
        """
        at = self._start + from_start(self, i)
        return self._dataset[at if self._order is None else self._order[at]]


def split_dataset(
    dataset: Dataset, split_at: int, order: Order | None = None
) -> tuple[SubDataset, SubDataset]:
    """Splits a dataset in two.

    Args:
        dataset: The whole.
        split_at (int): How many examples the first part has.
        order (sequence of ints): Which example stands where; None for the dataset's order.

    Returns:
        tuple: Both parts.

    Raises:
        TypeError: If ``split_at`` is no integer.
        ValueError: If it is negative or larger than the dataset.
    """
    try:
        at = operator.index(split_at)
    except TypeError:
        raise TypeError(
            f'split_dataset: split_at must be an int, not {type(split_at).__name__}'
        ) from None
    n = len(dataset)
    if not 0 <= at <= n:
        raise ValueError(f'split_dataset: split_at is {at} for a dataset of {n} examples')
    return SubDataset(dataset, 0, at, order), SubDataset(dataset, at, n, order)


def split_dataset_random(
    dataset: Dataset, first_size: int, seed: int | None = None
) -> tuple[SubDataset, SubDataset]:
    """Splits a dataset in two, at random.

    Args:
        dataset: The whole.
        first_size (int): How many examples the first part has.
        seed (int): Of the order; None for another one each time.

    Returns:
        tuple: Both parts.
    """
    return split_dataset(dataset, first_size, _shuffled(dataset, seed))


def split_dataset_n(dataset: Dataset, n: int, order: Order | None = None) -> list[SubDataset]:
    """Splits a dataset into parts of the same size. The remaining examples belong to none.

    Args:
        dataset: The whole.
        n (int): How many parts.
        order (sequence of ints): Which example stands where; None for the dataset's order.

    Returns:
        list: The parts.

    Raises:
        ValueError: If ``n`` is not positive.
    """
    _check_count('split_dataset_n', 'n', n)
    size = len(dataset) // n
    return [SubDataset(dataset, size * i, size * (i + 1), order) for i in range(n)]


def split_dataset_n_random(dataset: Dataset, n: int, seed: int | None = None) -> list[SubDataset]:
    """Splits a dataset into parts of the same size, at random.

    Args:
        dataset: The whole.
        n (int): How many parts.
        seed (int): Of the order; None for another one each time.

    Returns:
        list: The parts.
    """
    return split_dataset_n(dataset, n, _shuffled(dataset, seed))


def get_cross_validation_datasets(
    dataset: Dataset,
    n_folds: int | None = None,
    order: Order | None = None,
    **kwargs: object,
) -> list[tuple[SubDataset, SubDataset]]:
    """Pairs of a training set and the fold that it leaves out.

    Args:
        dataset: The whole.
        n_folds (int): How many pairs; each example is in the second dataset of one of them.
        order (sequence of ints): Which example stands where; None for the dataset's order.
        **kwargs: ``n_fold``, the name of ``n_folds`` before v3.

    Returns:
        list: Pairs of datasets.

    Raises:
        TypeError: If ``n_folds`` is missing.
        ValueError: If it is not positive, or larger than the dataset.
    """
    n_folds = _fold_count('get_cross_validation_datasets', n_folds, kwargs)
    n = len(dataset)
    if n_folds > n:
        raise ValueError(
            f'get_cross_validation_datasets: n_folds is {n_folds} for a dataset of {n} examples'
        )
    indices = np.arange(n) if order is None else np.asarray(order)
    if len(indices) != n:
        raise ValueError(
            f'get_cross_validation_datasets: order has {len(indices)} indices for a dataset of {n} '
            'examples'
        )
    borders = [n * i // n_folds for i in range(n_folds + 1)]
    pairs = []
    for begin, end in reversed(list(itertools.pairwise(borders))):
        # The examples behind the fold come first, and the fold last.
        turned = np.concatenate([indices[end:], indices[:begin], indices[begin:end]])
        size = n - (end - begin)
        pairs.append((SubDataset(dataset, 0, size, turned), SubDataset(dataset, size, n, turned)))
    return pairs


def get_cross_validation_datasets_random(
    dataset: Dataset, n_folds: int | None = None, seed: int | None = None, **kwargs: object
) -> list[tuple[SubDataset, SubDataset]]:
    """Pairs of a training set and the fold that it leaves out, at random.

    Args:
        dataset: The whole.
        n_folds (int): How many pairs.
        seed (int): Of the order; None for another one each time.
        **kwargs: As in `get_cross_validation_datasets`.

    Returns:
        list: Pairs of datasets.
    """
    n_folds = _fold_count('get_cross_validation_datasets_random', n_folds, kwargs)
    return get_cross_validation_datasets(dataset, n_folds, _shuffled(dataset, seed))


def _shuffled(dataset: Dataset, seed: int | None) -> np.ndarray:
    return np.random.RandomState(seed).permutation(len(dataset))


def _check_count(owner: str, name: str, n: int) -> None:
    if n < 1:
        raise ValueError(f'{owner}: {name} must be positive, not {n}')


def _fold_count(owner: str, n_folds: int | None, kwargs: dict[str, tp.Any]) -> int:
    n_folds = kwargs.pop('n_fold', n_folds)
    if kwargs:
        raise TypeError(f'{owner}: unexpected argument {next(iter(kwargs))!r}')
    if n_folds is None:
        raise TypeError(f'{owner}: n_folds is missing')
    _check_count(owner, 'n_folds', n_folds)
    return n_folds
