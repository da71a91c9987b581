"""`scatter_dataset` and `scatter_index`."""

from __future__ import annotations

import typing as tp

import numpy as np
from chainer.datasets import SubDataset

from chainermn.communicators._rooted import make_in_root

if tp.TYPE_CHECKING:
    from chainer._typing import Dataset

    from chainermn.communicators.communicator_base import CommunicatorBase


class DataSizeError(RuntimeError):
    """What Chainer v7 raises for datasets that do not fit in a message of MPI.

    Here they are sent in several, so nothing raises it.

    Args:
        *args: The message.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*args)


def scatter_dataset(
    dataset: Dataset | None,
    comm: CommunicatorBase,
    root: int = 0,
    shuffle: bool = False,
    seed: int | None = None,
    max_buf_len: int = 256 * 1024 * 1024,
    *,
    force_equal_length: bool = True,
) -> SubDataset:
    """Gives each process a part of the dataset of one.

    The whole dataset is sent, pickled: one that reads files reads them where it is used. For a
    large dataset in memory, share out its indices by `scatter_index` and read the part in each
    process.

    Args:
        dataset: Has a length and examples by index; only that of the root counts.
        comm (CommunicatorBase): Connects the processes, which must all call this.
        root (int): The rank that has it.
        shuffle (bool): Whether examples are distributed in a random order.
        seed (int): Of that order; None takes NumPy's global generator of the root.
        max_buf_len (int): The most bytes of a message.
        force_equal_length (bool): Whether parts have the same length, so that some examples are in
            two parts if they can't otherwise.

    Returns:
        SubDataset: The part of this process.

    Raises:
        TypeError: If the root has no dataset, there.
        RuntimeError: If the root fails, in all others.
        ValueError: If there is no such rank, or ``max_buf_len`` is less than 1.
    """

    def prepare() -> tp.Any:
        if not (hasattr(dataset, '__len__') and hasattr(dataset, '__getitem__')):
            raise TypeError(
                f'scatter_dataset: the root (rank {root}) has no dataset, but {dataset!r}'
            )
        n = len(tp.cast(tp.Any, dataset))
        return _random(seed).permutation(n) if shuffle else None

    order = make_in_root('scatter_dataset', comm, root, prepare)
    data: tp.Any = comm.bcast_obj(dataset, max_buf_len, root)
    begin, end = _part(len(data), comm.rank, comm.size, force_equal_length)
    return SubDataset(data, begin, end, order)


def scatter_index(
    n_total_samples: int,
    comm: CommunicatorBase,
    root: int = 0,
    *,
    force_equal_length: bool = True,
) -> tuple[int, int]:
    """Gives each process a range of indices.

    Args:
        n_total_samples (int): The number of all; only that of the root counts.
        comm (CommunicatorBase): Connects the processes, which must all call this.
        root (int): The rank whose number counts.
        force_equal_length (bool): As in `scatter_dataset`.

    Returns:
        tuple of int: Where the range of this process begins and ends.

    Raises:
        TypeError: If it is no number.
        ValueError: If it is negative, or there is no such rank.
    """
    n = comm.bcast_obj(n_total_samples, root=root)
    if not isinstance(n, int | np.integer):
        raise TypeError(f'scatter_index: n_total_samples is {n!r}, expected an int')
    if n < 0:
        raise ValueError(f'scatter_index: n_total_samples is {n}, expected 0 or more')
    return _part(int(n), comm.rank, comm.size, force_equal_length)


def _random(seed: int | None) -> tp.Any:
    return np.random if seed is None else np.random.RandomState(seed)


def _part(n: int, rank: int, size: int, equal: bool) -> tuple[int, int]:
    begin = n * rank // size
    return begin, begin - (-n // size) if equal else n * (rank + 1) // size
