"""Sums over several GPUs, and copies to all of them."""

from __future__ import annotations

import typing as tp

from chainerx import _core

if tp.TYPE_CHECKING:
    from collections.abc import Sequence

    from chainerx import ndarray

    Arrays = Sequence[ndarray] | Sequence[Sequence[ndarray]]

#: In the order of cuda::Reduction.
OPS = ('sum', 'mean', 'max', 'min')


def all_reduce(arrays: Arrays, op: str = 'sum') -> None:
    """Write the sum of arrays of several GPUs into all of them, without waiting.

    It is queued to the current streams of the GPUs. NCCL computes it. Where NCCL is not there, or
    lacks the dtype, arrays are copied to the first GPU and added there in their order, which stderr
    says once; ``$CHAINERX_CUDA_ALL_REDUCE=copies`` chooses that. Graphs see nothing of it.

    Parameters
    ----------
    arrays : sequence of ndarray
        An array on each GPU, all of one shape and dtype; or, for each GPU, a sequence of arrays,
        all of which are then reduced together. Any strides.
    op : str
        ``'sum'``, ``'mean'``, ``'max'`` or ``'min'``.

    Raises
    ------
    ValueError
        If there is no such operation, or no array, or one is read-only.
    DeviceError
        If one is not on a GPU, or two are on the same.
    DimensionError
        If their shapes differ.
    DtypeError
        If their dtypes differ, or have no such operation: bool no sum, integers no mean, complex
        numbers no maximum.
    """
    if op not in OPS:
        raise ValueError(f'all_reduce: op is {op!r}, expected one of {", ".join(OPS)}')
    _core._cuda.exchange('all_reduce', _to_lists('all_reduce', arrays), OPS.index(op), 0)


def broadcast(arrays: Arrays, root: int = 0) -> None:
    """Write the array of one GPU into those of the others, as `all_reduce` does.

    Parameters
    ----------
    arrays : sequence of ndarray
        As in `all_reduce`; of any dtype.
    root : int
        Which of them is read.

    Raises
    ------
    IndexError
        If ``root`` is none of them.
    ValueError
        As in `all_reduce`, as the others.
    """
    lists = _to_lists('broadcast', arrays)
    if not 0 <= root < len(lists):
        raise IndexError(f'broadcast: root is {root}, and there are {len(lists)} GPUs')
    _core._cuda.exchange('broadcast', lists, -1, root)


def _to_lists(name: str, arrays: Arrays) -> list[list[ndarray]]:
    lists = [[item] if isinstance(item, _core.ndarray) else list(item) for item in arrays]
    if not lists:
        raise ValueError(f'{name}: there are no arrays')
    return lists
