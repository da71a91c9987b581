"""Facts about the environment and short questions to the configuration."""

from __future__ import annotations

import typing as tp
import warnings

import chainerx
import numpy as np

from chainer._base.mixed16 import mixed16
from chainer.backends import cuda, intel64
from chainer.configuration import config, using_config

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, NdArray


def get_array_types() -> tuple[tp.Any, ...]:
    """The classes of arrays that Chainer accepts.

    Returns:
        tuple of type: Without CuPy, only those of the host.
    """
    types = get_cpu_array_types()
    return (*types, cuda.ndarray) if cuda.available else types


def get_cpu_array_types() -> tuple[tp.Any, ...]:
    """The classes of arrays that can be on the host.

    Returns:
        tuple of type: Among them that of chainerx.
    """
    if intel64.is_ideep_available():
        return (np.ndarray, intel64.mdarray, chainerx.ndarray)
    return (np.ndarray, chainerx.ndarray)


_LIBRARIES: tp.Final = ((np.ndarray, intel64.mdarray), (chainerx.ndarray,), (cuda.ndarray,))


def is_arrays_compatible(arrays: tp.Iterable[NdArray | None]) -> bool:
    """Whether all arrays are of one kind, so that one function can take them. None is ignored.

    Args:
        arrays (iterable of array or None): The arrays.

    Returns:
        bool: True if there is none.
    """
    classes = {type(a) for a in arrays}
    classes.discard(type(None))
    if classes == {np.ndarray} or not classes:  # most often
        return True
    return any(all(issubclass(c, library) for c in classes) for library in _LIBRARIES)


def get_dtype(dtype: DTypeLike | None = None, map_mixed16: DTypeLike | None = None) -> np.dtype:
    """Resolves a dtype.

    Args:
        dtype: A dtype, `mixed16`, or None, the configured one.
        map_mixed16: What `mixed16` stands for here; None is float16.

    Returns:
        dtype: Of NumPy.

    Raises:
        TypeError: If there is no such dtype.

    >>> import chainer
    >>> chainer.get_dtype(chainer.mixed16, map_mixed16='float32')
    dtype('float32')
    """
    if dtype is None:
        dtype = config.dtype
    if dtype is mixed16 and map_mixed16 is not None:
        dtype = map_mixed16
    return np.dtype(dtype)


def is_debug() -> bool:
    """Whether debug mode is on.

    Returns:
        bool: ``config.debug`` of this thread.
    """
    return bool(config.debug)


def set_debug(debug: bool) -> None:
    """Turns debug mode on or off, for this thread.

    Args:
        debug (bool): Whether it is on.
    """
    config.debug = debug


def get_compute_mode() -> str | None:
    """The configured compute mode.

    Returns:
        str: None if none is set.
    """
    return config.compute_mode


class DebugMode:
    """A context of debug mode on or off.

    Deprecated: use ``chainer.using_config('debug', ...)``.

    Args:
        debug (bool): Whether it is on inside.
    """

    def __init__(self, debug: bool) -> None:
        warnings.warn(
            'chainer.DebugMode is deprecated. Use chainer.using_config("debug", ...) instead.',
            DeprecationWarning,
            stacklevel=2,
        )
        self._using = using_config('debug', debug)

    def __enter__(self) -> None:
        self._using.__enter__()

    def __exit__(self, *args: object) -> None:
        self._using.__exit__(*args)


for _object in (
    get_array_types,
    get_cpu_array_types,
    is_arrays_compatible,
    get_dtype,
    is_debug,
    set_debug,
    get_compute_mode,
    DebugMode,
):
    _object.__module__ = 'chainer'
