"""iDeep, the CPU accelerator of Chainer v4 to v7; used only if ``ideep4py`` can be imported."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer._base import devices
from chainer.backends import _cpu, _ideep
from chainer.backends._ideep import ideep, mdarray
from chainer.configuration import config

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, VariableLike

_SHOULD_USE_IDEEP = {
    '==always': {'always': True, 'auto': False, 'never': False},
    '>=auto': {'always': True, 'auto': True, 'never': False},
}


class Intel64Device(devices.Device):
    """The device of iDeep arrays.

    Raises:
        RuntimeError: If iDeep is not available.
    """

    xp = np
    supported_array_types = (np.ndarray, mdarray)
    name = '@intel64'

    def __init__(self) -> None:
        check_ideep_available()
        super().__init__()

    __hash__ = devices.Device.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Intel64Device)

    def __repr__(self) -> str:
        return f'<{type(self).__name__}>'

    @staticmethod
    def from_array(array: NdArray) -> Intel64Device | None:
        """The device of an array.

        Args:
            array: Any object.

        Returns:
            Intel64Device: None if it is no array of iDeep.
        """
        return Intel64Device() if isinstance(array, mdarray) else None

    def send_array(self, array: NdArray) -> NdArray:
        if isinstance(array, mdarray):
            return array
        array = _cpu._array_to_cpu(array)
        # iDeep holds nothing else; such arrays stay NumPy's, which live here too.
        if array is not None and array.dtype == np.float32 and array.ndim in (1, 2, 4):
            return ideep.array(array, itype=ideep.wgt_array)
        return array

    def is_array_supported(self, array: NdArray) -> bool:
        return isinstance(array, (np.ndarray, mdarray))


def is_ideep_available() -> bool:
    """Whether iDeep can be used.

    Returns:
        bool: Whether ``ideep4py`` was imported, in a version that fits.
    """
    return _ideep.error is None


def check_ideep_available() -> None:
    """Raises RuntimeError, with the reason, if iDeep can't be used."""
    if _ideep.error is not None:
        raise RuntimeError(
            f'iDeep is not available.\nReason: {type(_ideep.error).__name__}: {_ideep.error}'
        ) from _ideep.error


def should_use_ideep(level: str) -> bool:
    """Whether ``config.use_ideep`` allows iDeep.

    Args:
        level (str): ``'==always'`` or ``'>=auto'``, the settings that allow it.

    Returns:
        bool: False without iDeep.

    Raises:
        ValueError: If ``level`` or the setting is unknown, where there is iDeep.
    """
    if not is_ideep_available():
        return False
    return _ideep.lookup(_SHOULD_USE_IDEEP, level, 'use_ideep', config.use_ideep)


def inputs_all_ready(
    inputs: tp.Sequence[VariableLike], supported_ndim: tuple[int, ...] = (2, 4)
) -> bool:
    """Whether iDeep can compute with these arrays.

    Args:
        inputs (sequence of array or Variable): The inputs of a function.
        supported_ndim (tuple of int): Numbers of axes that the function takes.

    Returns:
        bool: True if all are float32, of NumPy or iDeep, and have so many axes.
    """
    if not inputs or not is_ideep_available():
        return False
    arrays = [getattr(x, 'array', x) for x in inputs]
    return all(
        isinstance(a, (np.ndarray, mdarray)) and a.dtype == np.float32 and a.ndim in supported_ndim
        for a in arrays
    )
