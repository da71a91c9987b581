"""Arrays and devices of any kind, by one set of functions."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import types
from chainer._base.devices import Device
from chainer.backends import _chainerx, _cpu, cuda, intel64
from chainer.backends._chainerx import ChainerxDevice, from_chx, to_chx
from chainer.backends._cpu import CpuDevice
from chainer.backends._modules import _array_of, get_array_module
from chainer.backends.cuda import GpuDevice
from chainer.backends.intel64 import Intel64Device

if tp.TYPE_CHECKING:
    from chainer._typing import ArrayLike, NdArray, VariableLike

__all__ = [
    'ChainerxDevice',
    'CpuDevice',
    'Device',
    'GpuDevice',
    'Intel64Device',
    'copyto',
    'from_chx',
    'get_array_module',
    'get_device',
    'get_device_from_array',
    'to_chx',
    'using_device',
]


def copyto(dst: NdArray, src: ArrayLike) -> None:
    """Copies ``src`` into ``dst``, which may be an array of another kind, on another device.

    Args:
        dst: Array of any kind; the source is broadcast to its shape.
        src: Array of any kind, or a scalar.

    Raises:
        TypeError: If ``dst`` is no array, or its dtype can't take the source's kind.
    """
    if isinstance(dst, np.ndarray):
        np.copyto(dst, _cpu._to_cpu(src))
    elif isinstance(dst, chainerx.ndarray):
        dst[...] = _chainerx._array_to_chainerx(src, device=dst.device)
    elif isinstance(dst, intel64.mdarray):
        np.copyto(np.asarray(dst), _cpu._to_cpu(src))
    elif isinstance(dst, cuda.ndarray):
        with dst.device:
            if isinstance(src, chainerx.ndarray):
                src = from_chx(src)
            if isinstance(src, cuda.ndarray):
                cuda.cupy.copyto(dst, src)
            elif isinstance(src, np.ndarray):
                dst.set(np.broadcast_to(src, dst.shape).astype(dst.dtype, order='C', copy=False))
            else:
                dst[...] = src
    else:
        raise TypeError(f'cannot copy to non-array object of type {type(dst)}')


def get_device(device_spec: types.DeviceSpec) -> Device:
    """Makes a device object of what may stand for one.

    Args:
        device_spec: A `Device`; ``'@numpy'``, ``'@cupy:0'``, ``'@intel64'``; a ChainerX device or
            its name (``'native'``, ``'cuda:1'``); a CuPy device, or `chainer.cuda.DummyDevice` for
            the CPU; a number, also as a string: a GPU of CuPy, or, if negative, the CPU.

    Returns:
        Device: Of the class that its kind of arrays has.

    Raises:
        TypeError: For anything else.
        ValueError: For a string with ``@`` that names no module.
        RuntimeError: If CuPy or iDeep is asked for and can't be used.
        chainerx.ChainerxError: For a name that ChainerX does not know.
    """
    if isinstance(device_spec, Device):
        return device_spec
    if isinstance(device_spec, cuda._integer_types):
        return _get_device_cupy_or_numpy(device_spec)
    if isinstance(device_spec, chainerx.Device):
        return ChainerxDevice(device_spec)
    if cuda.available and isinstance(device_spec, cuda.Device):
        return GpuDevice(device_spec)
    if isinstance(device_spec, cuda.DummyDeviceType):
        return CpuDevice()
    if isinstance(device_spec, str):
        return _get_device_from_str(device_spec)
    raise TypeError(
        'Device specifier must be a backend.Device, cuda.Device, chainerx.Device, integer or a '
        f'string. Actual: {type(device_spec)}'
    )


def _get_device_from_str(spec: str) -> Device:
    if not spec.startswith('@'):
        try:
            number = int(spec)
        except ValueError:
            return ChainerxDevice(chainerx.get_device(spec))
        return _get_device_cupy_or_numpy(number)
    module, colon, index = spec[1:].partition(':')
    if module == 'numpy' and not colon:
        return CpuDevice()
    if module == 'intel64' and not colon:
        return Intel64Device()
    if module == 'cupy' and index:
        return GpuDevice.from_device_id(int(index))
    raise ValueError(
        "Device specifiers starting with '@' must be '@numpy', '@intel64' or '@cupy:<number>'. "
        f'Actual: {spec}'
    )


def _get_device_cupy_or_numpy(device_spec: tp.Any) -> Device:
    return GpuDevice.from_device_id(device_spec) if device_spec >= 0 else CpuDevice()


def using_device(device_spec: types.DeviceSpec) -> tp.ContextManager[object]:
    """A context in which the device is current, where the array library has such a notion.

    Args:
        device_spec: What `get_device` takes.

    Returns:
        A context manager; a new one for each ``with`` block.

    Raises:
        As `get_device`.
    """
    return get_device(device_spec).create_context()


_KINDS: tp.Final[tuple[tp.Any, ...]] = (ChainerxDevice, GpuDevice, Intel64Device)


def get_device_from_array(*arrays: VariableLike | None) -> Device:
    """The device of the first array that is not NumPy's; the CPU if there is none.

    Args:
        arrays: Arrays or Variables; anything else is ignored.

    Returns:
        Device: A `CpuDevice` for NumPy arrays.
    """
    for x in arrays:
        array = _array_of(x)
        for kind in _KINDS:
            device = kind.from_array(array)
            if device is not None:
                return device
    return CpuDevice()


def _guess_device_from_array_module(xp: types.Xp) -> Device:
    """The device on which functions of ``xp`` make arrays now."""
    if xp is cuda.cupy and cuda.available:
        return GpuDevice(cuda.Device())
    if xp is chainerx:
        return ChainerxDevice(chainerx.get_default_device())
    return CpuDevice()  # xp may be anything that only acts like NumPy


def _contains_nan(x: NdArray) -> bool:
    """Whether there is a NaN in an array; False for dtypes that have none."""
    if x.dtype.kind not in 'fc' and x.dtype.name != 'bfloat16':
        return False
    device = get_device_from_array(x)
    with using_device(device):
        return bool(device.xp.isnan(x).any())
