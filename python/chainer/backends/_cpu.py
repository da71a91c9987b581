"""NumPy arrays."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer._base import devices
from chainer.backends import _cupy, _ideep

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray


class CpuDevice(devices.Device):
    """The device of NumPy arrays."""

    xp = np
    supported_array_types = (np.ndarray,)
    name = '@numpy'

    __hash__ = devices.Device.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CpuDevice)

    def __repr__(self) -> str:
        return f'<{type(self).__name__} (numpy)>'

    @staticmethod
    def from_array(array: tp.Any) -> CpuDevice | None:
        """The device of an array.

        Args:
            array: Any object.

        Returns:
            CpuDevice: None if it is no array of NumPy.
        """
        return CpuDevice() if isinstance(array, np.ndarray) else None

    def send_array(self, array: tp.Any) -> NdArray:
        return _array_to_cpu(array)

    def is_array_supported(self, array: tp.Any) -> bool:
        return isinstance(array, np.ndarray)


def _to_cpu(array: object) -> tp.Any:
    """Converts an array, or a list or tuple of them, to NumPy."""
    return devices._convert_arrays(array, _array_to_cpu)


def _array_to_cpu(array: object) -> tp.Any:
    if array is None or isinstance(array, np.ndarray):
        return array
    if isinstance(array, chainerx.ndarray):
        return chainerx.to_numpy(array, copy=False)
    if isinstance(array, _cupy.ndarray):
        return array.get()
    if isinstance(array, _ideep.mdarray) or np.isscalar(array):
        return np.asarray(array)
    raise TypeError(f'Array cannot be converted into an numpy.ndarray\nActual type: {type(array)}.')
