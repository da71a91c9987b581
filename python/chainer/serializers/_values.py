"""One value on its way into a file or out of it."""

from __future__ import annotations

import functools
import math
import typing as tp

import chainerx
import numpy as np

from chainer import backend
from chainer.backends import _cpu, cuda, intel64

_Shape: tp.TypeAlias = 'tuple[int, ...]'

# A member may unpack to this many times its size in the file, or to this many bytes, when nothing
# but the file says how large it is.
_MAX_RATIO: tp.Final = 100
_MAX_UNCHECKED: tp.Final = 1 << 26


@functools.cache
def bfloat16() -> np.dtype:
    import ml_dtypes  # imported here, because the import of chainer should be quick

    return np.dtype(ml_dtypes.bfloat16)


def is_array(value: object) -> bool:
    return isinstance(value, np.ndarray | chainerx.ndarray | cuda.ndarray | intel64.mdarray)


def to_numpy(key: str, value: object) -> np.ndarray:
    """The NumPy array to write for a value that is not None.

    Raises:
        TypeError: If it would need pickle.
    """
    if isinstance(value, list | tuple):
        array = np.asarray([_cpu._to_cpu(x) for x in value])
    else:
        try:
            array = np.asarray(_cpu._to_cpu(value))
        except TypeError as error:
            raise TypeError(f'{key!r} cannot be saved. {error}') from None
    if array.dtype.hasobject:
        raise TypeError(
            f'{key!r} cannot be saved: it is {_brief(value)}, an array of objects, which needs '
            'pickle, and loading a pickle can run any code. Save numbers, strings or arrays of them'
        )
    return array


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) < 60 else f'{text[:50]}... ({type(value).__name__})'


def n_bytes(dtype: np.dtype, shape: _Shape) -> int:
    """The size of an array, in exact arithmetic.

    Raises:
        ValueError: If no array can be so large, even if another dimension is 0.
    """
    if len(shape) > 32 or math.prod(n or 1 for n in shape) * (dtype.itemsize or 1) >= 1 << 62:
        raise ValueError(f'no array can have shape {shape} and dtype {dtype}')
    return math.prod(shape) * dtype.itemsize


def check_growth(dtype: np.dtype, shape: _Shape, stored: int, expected: int) -> None:
    """Refuses to unpack far more than a file holds, unless the size is about the expected one."""
    size = n_bytes(dtype, shape)
    if size > max(_MAX_UNCHECKED, 2 * expected) and size > _MAX_RATIO * stored:
        raise ValueError(
            f'{stored} bytes would unpack to {size} (shape {shape}, {dtype}), and the target has '
            'no shape to compare with; initialize it first if that is right'
        )


def check_array(value: tp.Any, dtype: np.dtype, shape: _Shape, where: tp.Callable[[], str]) -> None:
    """Compares the array to load into with what the file holds.

    Raises:
        ValueError: If shapes differ; those of one element don't count as different.
        TypeError: If dtypes are of different kinds.
    """
    if tuple(value.shape) != shape and not (value.size == 1 and math.prod(shape) == 1):
        raise ValueError(f'{where()} has shape {shape}, but the target has {tuple(value.shape)}')
    if not _can_cast(dtype, value.dtype):
        raise TypeError(
            f'{where()} has dtype {dtype}, which cannot be cast to {value.dtype}, that of the '
            'target'
        )


def _can_cast(source: np.dtype, target: tp.Any) -> bool:
    target = np.dtype(target)
    if source.kind == 'V' or target.kind == 'V':
        if source == bfloat16():
            return target == bfloat16() or target.kind in 'fc'
        return target == bfloat16() and source.kind in 'biuf'
    return np.can_cast(source, target, 'same_kind')


def fill(value: tp.Any, loaded: np.ndarray) -> None:
    """Copies a loaded value into an array that `check_array` accepted."""
    backend.copyto(value, loaded.reshape(value.shape).astype(value.dtype, copy=False))


def to_scalar(value: tp.Any, loaded: np.ndarray, where: tp.Callable[[], str]) -> tp.Any:
    """Return a loaded value as an object of the type of ``value``.

    Raises:
        TypeError: If that would lose something, or the type is none that can be loaded.
        ValueError: If there is more than one element for a scalar.
    """
    kind = type(value)
    if isinstance(value, list | tuple):
        if loaded.ndim != 1:
            raise ValueError(f'{where()} has shape {loaded.shape}, which is no {kind.__name__}')
        return kind(loaded.tolist())
    if not isinstance(value, str | bytes | bool | int | float | complex | np.generic):
        raise TypeError(f'{where()} cannot be loaded into a {kind.__name__}')
    if loaded.size != 1:
        raise ValueError(f'{where()} has shape {loaded.shape}, but the target is a scalar')
    item = loaded.reshape(()).item()
    if isinstance(value, str):
        return item.decode() if isinstance(item, bytes) else kind(item)
    if isinstance(value, bytes):
        safe = loaded.dtype.kind == 'S'
    else:
        safe = loaded.dtype.kind not in 'SU' and np.can_cast(loaded.dtype, np.asarray(value).dtype)
    if not safe:
        raise TypeError(
            f'{where()} has dtype {loaded.dtype}, which cannot be cast safely to {kind.__name__}, '
            'the type of the target'
        )
    return kind(item)
