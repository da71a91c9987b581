"""Queries of arrays: their shapes, and whether they share memory."""

from __future__ import annotations

import operator
import typing as tp

import numpy as np

from chainerx import _core

if tp.TYPE_CHECKING:
    from chainerx._typing import ArrayLike


def shape(a: ArrayLike) -> tuple[int, ...]:
    """The dimensions of an array, a number or a list.

    Args:
        a: An ndarray, or what numpy.asarray() takes.
    Returns:
        tuple of int: () for a number.
    """
    return a.shape if isinstance(a, _core.ndarray) else np.shape(a)


def ndim(a: ArrayLike) -> int:
    """The number of dimensions of an array, a number or a list.

    Args:
        a: An ndarray, or what numpy.asarray() takes.
    Returns:
        int: 0 for a number.
    """
    return len(shape(a))


def size(a: ArrayLike, axis: int | tuple[int, ...] | None = None) -> int:
    """The number of elements, of all or along some axes.

    Args:
        a: An ndarray, or what numpy.asarray() takes.
        axis (int or tuple of int): Which; None is all.
    Returns:
        int: 1 for a number.
    Raises:
        AxisError: If there is no such axis.
        TypeError: If an axis is no integer.
    """
    lengths = shape(a)
    if axis is None:
        axis = tuple(range(len(lengths)))
    result = 1
    try:
        axes = [operator.index(i) for i in (axis if isinstance(axis, tuple) else (axis,))]
    except TypeError:
        raise TypeError(
            f'size: axis is {axis!r}, expected an integer or a tuple of integers'
        ) from None
    for i in axes:
        if not -len(lengths) <= i < len(lengths):
            raise _core.AxisError(f'size: axis {i} is out of range for {len(lengths)} dimensions')
        result *= lengths[i]
    return result


def isfortran(a: _core.ndarray) -> bool:
    """Whether an array is contiguous in Fortran order, and not in C order.

    Args:
        a (ndarray): Any shape.
    Returns:
        bool: False of what is contiguous in both, as a vector.
    Raises:
        TypeError: If it is no ndarray.
    """
    if not isinstance(a, _core.ndarray):
        raise TypeError(f'isfortran: a must be a chainerx.ndarray, got {type(a).__name__}')
    return a.T.is_contiguous and not a.is_contiguous


def broadcast_shapes(*args: int | tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to.

    Args:
        *args (tuple of int): Shapes; a number is one of one dimension.
    Returns:
        tuple of int: () for none.
    Raises:
        DimensionError: If they do not broadcast, or a length is negative.
        TypeError: If a shape is none.
    """
    shapes = []
    for k, s in enumerate(args):
        try:
            lengths = (s,) if isinstance(s, (int, np.integer)) else s
            shapes.append(tuple([operator.index(n) for n in lengths]))
        except TypeError:
            raise TypeError(
                f'broadcast_shapes: args[{k}] is {s!r}, expected a tuple of integers'
            ) from None
    result: list[int] = [1] * max((len(s) for s in shapes), default=0)
    for s in shapes:
        for i, n in enumerate(s, len(result) - len(s)):
            if n < 0 or (n != result[i] and n != 1 and result[i] != 1):
                raise _core.DimensionError(
                    f'broadcast_shapes: shape {s} does not broadcast to {tuple(result)}'
                )
            result[i] = n if result[i] == 1 else result[i]
    return tuple(result)


class _Memory:
    """NumPy's view of memory that it never reads, since it may be that of a device."""

    def __init__(self, x: _core.ndarray) -> None:
        self.__array_interface__ = {
            'data': (x._debug_data_memory_address, True),
            'shape': x.shape,
            'strides': x.strides,
            'typestr': f'|V{x.itemsize}',
            'version': 3,
        }


def _overlap(
    op: str,
    function: tp.Callable[..., bool],
    a: _core.ndarray,
    b: _core.ndarray,
    max_work: int | None,
) -> bool:
    for name, x in (('a', a), ('b', b)):
        if not isinstance(x, _core.ndarray):
            raise TypeError(f'{op}: {name} must be a chainerx.ndarray, got {type(x).__name__}')
    # Different devices may use equal addresses.
    if a.device is not b.device or a.size == 0 or b.size == 0:
        return False
    return function(np.asarray(_Memory(a)), np.asarray(_Memory(b)), max_work)


def shares_memory(a: _core.ndarray, b: _core.ndarray, max_work: int | None = None) -> bool:
    """Whether an element of one array lies in the memory of one of another.

    Args:
        a, b (ndarray): On any devices.
        max_work (int): How many candidates to try; None is as many as it takes, which may be
            very many.
    Returns:
        bool: Exact.
    Raises:
        TypeError: If one is no ndarray.
        RuntimeError: If ``max_work`` does not suffice.
    """
    return _overlap('shares_memory', np.shares_memory, a, b, max_work)


def may_share_memory(a: _core.ndarray, b: _core.ndarray, max_work: int | None = None) -> bool:
    """Whether two arrays may share memory; quick.

    Args:
        a, b (ndarray): On any devices.
        max_work (int): How many candidates to try; None only compares the ends of both.
    Returns:
        bool: If False, they do not.
    Raises:
        TypeError: If one is no ndarray.
    """
    if max_work is None:
        return _core._extents_meet(a, b)
    return _overlap('may_share_memory', np.may_share_memory, a, b, max_work)
