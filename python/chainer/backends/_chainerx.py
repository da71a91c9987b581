"""ChainerX arrays."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np
from chainerx._core import engine

from chainer._base import devices
from chainer.backends import _cpu, cuda, intel64

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray


class ChainerxDevice(devices.Device):
    """A device of ChainerX arrays.

    Args:
        device (chainerx.Device): The device that this object stands for.
    """

    xp = chainerx
    supported_array_types = (chainerx.ndarray,)

    def __init__(self, device: chainerx.Device) -> None:
        if not isinstance(device, chainerx.Device):
            raise TypeError(f'ChainerxDevice: expected a chainerx.Device, got {type(device)}')
        super().__init__()
        self.device = device

    __hash__ = devices.Device.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChainerxDevice) and other.device is self.device

    def __repr__(self) -> str:
        return f'<{type(self).__name__} {self.device.name}>'

    @staticmethod
    def from_array(array: tp.Any) -> ChainerxDevice | None:
        """The device of an array.

        Args:
            array: Any object.

        Returns:
            ChainerxDevice: None if it is no array of ChainerX.
        """
        return ChainerxDevice(array.device) if isinstance(array, chainerx.ndarray) else None

    @staticmethod
    def from_fallback_device(device: devices.Device) -> ChainerxDevice:
        """The ChainerX device on the same hardware as a NumPy or CuPy device.

        Args:
            device (Device): Which.

        Returns:
            ChainerxDevice: That of ChainerX.
        """
        if isinstance(device, _cpu.CpuDevice):
            return ChainerxDevice(chainerx.get_device('native', 0))
        if isinstance(device, cuda.GpuDevice):
            return ChainerxDevice(chainerx.get_device('cuda', device.device.id))
        raise RuntimeError(
            'Only CPU or GPU devices are allowed. '
            f'Actual: {device if isinstance(device, devices.Device) else type(device)}'
        )

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def fallback_device(self) -> devices.Device:
        """The NumPy or CuPy device on the same hardware.

        Raises:
            RuntimeError: For a backend other than native and cuda.
        """
        name = self.device.backend.name
        if name == 'native':
            return _cpu.CpuDevice()
        if name == 'cuda':
            return cuda.GpuDevice.from_device_id(self.device.index)
        raise RuntimeError(
            f"Only 'native' or 'cuda' devices have corresponding fallback devices. Actual: {name}"
        )

    def create_context(self) -> tp.ContextManager[object]:
        return chainerx.using_device(self.device)

    def send_array(self, array: tp.Any) -> NdArray:
        return _array_to_chainerx(array, self.device)

    def use(self) -> None:
        chainerx.set_default_device(self.device)

    def is_array_supported(self, array: tp.Any) -> bool:
        return isinstance(array, chainerx.ndarray) and array.device is self.device


def to_chx(array: tp.Any) -> tp.Any:
    """Converts arrays to ChainerX on the device that they are on, sharing memory.

    Args:
        array: An array, a scalar, None, or a list or tuple of them.

    Returns:
        The same structure, of chainerx arrays; None stays None.

    Raises:
        TypeError: For a dtype that ChainerX does not have, or for an object that is not an array.
    """
    return devices._convert_arrays(array, _array_to_chainerx)


def from_chx(array: tp.Any) -> tp.Any:
    """Converts ChainerX arrays to NumPy or CuPy, sharing memory; other arrays are left alone.

    Args:
        array: An array, None, or a list or tuple of them.

    Returns:
        The same structure, of NumPy or CuPy arrays; None stays None.

    Raises:
        TypeError: For an object that is not an array.
        RuntimeError: For an array of a backend other than native and cuda.
    """
    return devices._convert_arrays(array, _array_from_chainerx)


def to_fallback(array: tp.Any) -> tp.Any:
    """Converts a ChainerX array for code that knows NumPy and CuPy, as `from_chx` does.

    Without CuPy an array of a GPU stays what it is, in no graph: much of such code is written for
    ``get_array_module(x)``, and kernels of `chainer.backends.cuda` take these arrays as well.

    Args:
        array: An array or None.

    Returns:
        An array of NumPy, CuPy or ChainerX over the same memory; None stays None.
    """
    if (
        not cuda.available
        and isinstance(array, chainerx.ndarray)
        and array.device.backend.name == 'cuda'
    ):
        return array.as_grad_stopped()
    return from_chx(array)


def _get_chainerx_device(device_spec: tp.Any) -> chainerx.Device:
    if isinstance(device_spec, chainerx.Device):
        return device_spec
    return chainerx.get_device(device_spec)


def _array_to_chainerx(array: tp.Any, device: chainerx.Device | None = None) -> tp.Any:
    if array is None:
        return None
    if isinstance(array, chainerx.ndarray):
        return array if device is None or array.device is device else array.to_device(device)
    if isinstance(array, cuda.ndarray):
        if device is not None and device.backend.name != 'cuda':
            return chainerx.array(array.get(), device=device)
        x = engine.side(array)
        return x if device is None else x.to_device(device)
    if isinstance(array, intel64.mdarray):
        array = np.asarray(array)
    if isinstance(array, np.ndarray):
        return chainerx.array(array, device=device or chainerx.get_device('native', 0), copy=False)
    if np.isscalar(array):
        return chainerx.asarray(array, device=device)
    raise TypeError(f'Array cannot be converted into chainerx.ndarray\nActual type: {type(array)}.')


def _array_from_chainerx(array: object) -> tp.Any:
    if array is None:
        return None
    if not isinstance(array, chainerx.ndarray):
        if isinstance(array, (np.ndarray, cuda.ndarray, intel64.mdarray)):
            return array
        raise TypeError(
            f'Tried to convert to a non-ChainerX array from an invalid type: {type(array)}'
        )
    name = array.device.backend.name
    if name == 'native':
        return chainerx.to_numpy(array, copy=False)
    if name == 'cuda':
        cuda.check_cuda_available()
        return engine.to_kind(array, 'cupy')
    raise RuntimeError(
        f'Only arrays on native or cuda devices can be converted. Actual: {array.device}'
    )
