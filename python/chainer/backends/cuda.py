"""CuPy arrays. Everything here can be imported and named without CuPy.

`available` says whether CuPy and a device are there. Without them the classes are empty stand-ins
that nothing is an instance of, and functions that need a GPU raise RuntimeError with the reason.
"""

from __future__ import annotations

import functools
import threading
import typing as tp
import warnings

import chainerx
import numpy as np
from chainerx._core import engine

from chainer import types
from chainer._base import devices
from chainer.backends import _cpu, _ideep
from chainer.backends._cupy import (  # noqa: F401  (this is where users find them)
    Device,
    Event,
    Stream,
    _cudnn_version,
    _cupy_major,
    _resolution_error,
    available,
    cudnn,
    cudnn_enabled,
    cupy,
    cupyx,
    ndarray,
)
from chainer.backends._modules import get_array_module as _get_array_module
from chainer.configuration import config

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, NdArray

_integer_types = (int, np.integer)


def check_cuda_available() -> None:
    """Raises RuntimeError, with the reason, if CuPy can't be used."""
    if not available:
        raise RuntimeError(
            'CUDA environment is not correctly set up: CuPy cannot be used. '
            f'{type(_resolution_error).__name__}: {_resolution_error}. '
            "Without CuPy, models and arrays go to GPUs by to_device('cuda:0'), not by to_gpu() or "
            'a number; they are arrays of chainerx there.'
        ) from _resolution_error


class DummyDeviceType:
    """Stands for the CPU where a ``cupy.cuda.Device`` is expected; does nothing."""

    id: tp.Final = -1
    __hash__ = None  # type: ignore[assignment]

    def __init__(self) -> None:
        pass

    def __int__(self) -> int:
        return -1

    def __enter__(self) -> DummyDeviceType:
        return self

    def __exit__(self, *args: object) -> None:
        pass

    def use(self) -> None:
        """Does nothing."""

    def synchronize(self) -> None:
        """Does nothing."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DummyDeviceType)

    def __ne__(self, other: object) -> bool:
        return not self == other


DummyDevice = DummyDeviceType()


class GpuDevice(devices.Device):
    """A device of CuPy arrays.

    Args:
        device (cupy.cuda.Device): The device that this object stands for.

    Raises:
        RuntimeError: If CuPy can't be used.
    """

    xp = cupy
    supported_array_types = (ndarray,)

    def __init__(self, device: tp.Any) -> None:
        check_cuda_available()
        if not isinstance(device, Device):
            raise TypeError(f'GpuDevice: expected a cupy.cuda.Device, got {type(device)}')
        super().__init__()
        self.device = device

    __hash__ = devices.Device.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GpuDevice) and other.device == self.device

    def __repr__(self) -> str:
        return f'<{type(self).__name__} (cupy):{self.device.id}>'

    @staticmethod
    def from_device_id(device_id: int) -> GpuDevice:
        """The device of that number.

        Args:
            device_id (int): The number.

        Returns:
            GpuDevice: A new object.

        Raises:
            RuntimeError: If CuPy can't be used.
            ValueError: If it is negative or no integer.
        """
        check_cuda_available()
        if not (isinstance(device_id, _integer_types) and device_id >= 0):
            raise ValueError(f'Invalid CUDA device ID: {device_id}')
        return GpuDevice(Device(int(device_id)))

    @staticmethod
    def from_array(array: tp.Any) -> GpuDevice | None:
        """The device of an array.

        Args:
            array: Any object.

        Returns:
            GpuDevice: None if it is no array of CuPy.
        """
        if isinstance(array, ndarray) and array.device is not None:
            return GpuDevice(array.device)
        return None

    @property
    def name(self) -> str:
        return f'@cupy:{self.device.id}'

    def create_context(self) -> tp.ContextManager[object]:
        # A new object, because one that is entered twice forgets where it came from.
        return Device(self.device.id)

    def send_array(self, array: tp.Any) -> NdArray:
        return _array_to_gpu(array, self.device, None)

    def use(self) -> None:
        self.device.use()

    def is_array_supported(self, array: tp.Any) -> bool:
        return isinstance(array, ndarray) and self.device == array.device


def get_device_from_id(device_id: int | None) -> Device | DummyDeviceType:
    """The CuPy device of that number; `DummyDevice` for None and negative numbers.

    Args:
        device_id (int): Its number, or None.

    Returns:
        cupy.cuda.Device: Or `DummyDevice`.

    Raises:
        RuntimeError: If CuPy is asked for and can't be used.
    """
    if device_id is None or device_id < 0:
        return DummyDevice
    check_cuda_available()
    return Device(int(device_id))


def get_device_from_array(*arrays: object) -> Device | DummyDeviceType:
    """The CuPy device of the first CuPy array; `DummyDevice` if there is none.

    Args:
        *arrays (array): Of any kind; None and others are skipped.

    Returns:
        cupy.cuda.Device: Or `DummyDevice`.
    """
    for array in arrays:
        if isinstance(array, ndarray) and array.device is not None:
            return array.device
    return DummyDevice


def get_device(*args: object) -> Device | DummyDeviceType:
    """The CuPy device of a number, a device or an array.

    Deprecated: use `get_device_from_id` or `get_device_from_array`.

    Args:
        *args: The first that says a device counts; the others are skipped.

    Returns:
        cupy.cuda.Device: `DummyDevice` if there is none.

    Raises:
        RuntimeError: For a number, if CuPy can't be used.
    """
    warnings.warn(
        'get_device is deprecated. Please use get_device_from_id or get_device_from_array instead.',
        DeprecationWarning,
        stacklevel=2,
    )
    return _get_cuda_device(*args)


def _get_cuda_device(*args: object) -> tp.Any:
    for arg in args:
        if isinstance(arg, _integer_types) and not isinstance(arg, bool):
            check_cuda_available()
            return Device(int(arg))
        arg = getattr(arg, 'array', arg)
        if isinstance(arg, ndarray) and arg.device is not None:
            return arg.device
        if available and isinstance(arg, Device):
            return arg
    return DummyDevice


def _get_device_or_current(device: object) -> tp.Any:
    check_cuda_available()
    if device is None:
        return Device()
    if isinstance(device, Device):
        return device
    if not (isinstance(device, _integer_types) and device >= 0):
        raise ValueError(f'Invalid CUDA device specifier: {device}')
    return Device(int(device))


def to_gpu(array: tp.Any, device: tp.Any = None, stream: tp.Any = None) -> tp.Any:
    """Copies arrays to a GPU; those that are there are returned as they are.

    Args:
        array: An array, a scalar, None, or a list or tuple of them.
        device: Number or ``cupy.cuda.Device``; None is the current device.
        stream: Deprecated: enter the stream instead.

    Returns:
        The same structure, of CuPy arrays; None stays None.

    Raises:
        RuntimeError: If CuPy can't be used.
        TypeError: For anything else.
        ValueError: If ``device`` is neither.
    """
    check_cuda_available()
    if stream is not None:
        warnings.warn(
            'The stream option is deprecated. Please use a stream context instead.',
            DeprecationWarning,
            stacklevel=2,
        )
    device = _get_device_or_current(device)
    return devices._convert_arrays(array, lambda a: _array_to_gpu(a, device, stream))


def _array_to_gpu(array: tp.Any, device: tp.Any, stream: tp.Any) -> tp.Any:
    if array is None:
        return None
    if isinstance(array, chainerx.ndarray):
        on_gpu = array.device.backend.name == 'cuda'
        array = engine.to_kind(array, 'cupy' if on_gpu else 'numpy')
    elif isinstance(array, _ideep.mdarray) or np.isscalar(array):
        array = np.asarray(array)
    if isinstance(array, ndarray) and array.device == device:
        return array
    if not isinstance(array, (ndarray, np.ndarray)):
        raise TypeError(
            f'The array sent to gpu must be an array or a scalar.\nActual type: {type(array)}.'
        )
    with Device(device.id):
        if stream is None:
            return cupy.array(array, copy=True)
        with stream:
            return cupy.array(array, copy=True)


def to_cpu(array: tp.Any, stream: tp.Any = None) -> tp.Any:
    """Converts arrays to NumPy; those that are on the host share memory with the result.

    Args:
        array: An array, a scalar, None, or a list or tuple of them.
        stream: Where CuPy copies; None waits for the current stream.

    Returns:
        The same structure, of NumPy arrays; None stays None.

    Raises:
        TypeError: For anything else.
    """

    def convert(a: tp.Any) -> tp.Any:
        return a.get(stream) if isinstance(a, ndarray) else _cpu._array_to_cpu(a)

    return devices._convert_arrays(array, convert)


def copy(
    array: tp.Any, out: tp.Any = None, out_device: tp.Any = None, stream: tp.Any = None
) -> tp.Any:
    """Copies an array between GPUs.

    Args:
        array (cupy.ndarray): The array to copy.
        out (cupy.ndarray): Where to; a new array if None.
        out_device: Number or ``cupy.cuda.Device`` of the new array; that of ``array`` if None.
        stream: Deprecated: enter the stream instead.

    Returns:
        cupy.ndarray: ``out``, or the new array.

    Raises:
        RuntimeError: If CuPy can't be used.
        ValueError: If ``out_device`` is neither.
    """
    check_cuda_available()
    if stream is not None:
        warnings.warn(
            'The stream option is deprecated. Please use a stream context instead.',
            DeprecationWarning,
            stacklevel=2,
        )
    if out is None:
        if out_device is None:
            out_device = array.device
        with _get_device_or_current(out_device):
            out = cupy.empty_like(array)
    with _get_cuda_device(array):
        cupy.copyto(out, array)
    return out


_F = tp.TypeVar('_F', bound=tp.Callable[..., tp.Any])


def memoize(for_each_device: bool = False) -> tp.Callable[[_F], _F]:
    """Makes a decorator that remembers results per arguments (and device); see `clear_memo`.

    Without CuPy the decorated function is the function itself.

    Args:
        for_each_device (bool): Whether each device has results of its own.

    Returns:
        A decorator of functions.
    """
    return cupy.memoize(for_each_device) if available else lambda f: f


def clear_memo() -> None:
    """Clears the caches of `memoize`."""
    if available:
        cupy.clear_memo()


@memoize()
def _make_kernel(kind, args, options):
    return getattr(cupy, kind)(*args, **dict(options))


def _kernel(kind: str, other: tp.Any, *args: object, **kwargs: object) -> tp.Any:
    """A kernel of CuPy; without it one of chainerx.cuda, which the other function makes."""
    if available:
        return _make_kernel(kind, args, tuple(kwargs.items()))
    if not chainerx.cuda.is_available():
        check_cuda_available()
    return other(*args, **kwargs)


def elementwise(
    in_params: str, out_params: str, operation: str, name: str, **kwargs: object
) -> tp.Any:
    """A ``cupy.ElementwiseKernel``, made once per set of arguments; without CuPy one of
    :class:`chainerx.cuda.ElementwiseKernel`.

    Args:
        in_params (str): Types and names of the inputs.
        out_params (str): Types and names of the outputs.
        operation (str): The code for one element.
        name (str): Of the kernel.
        **kwargs: Further arguments; hashable.

    Returns:
        cupy.ElementwiseKernel: The same one for the same arguments.

    Raises:
        RuntimeError: If there is neither CuPy nor a GPU for ChainerX.
    """
    return _kernel(
        'ElementwiseKernel',
        chainerx.cuda.elementwise,
        in_params,
        out_params,
        operation,
        name,
        **kwargs,
    )


def reduce(
    in_params: str,
    out_params: str,
    map_expr: str,
    reduce_expr: str,
    post_map_expr: str,
    identity: tp.Any,
    name: str,
    **kwargs: object,
) -> tp.Any:
    """A ``cupy.ReductionKernel``, made once per set of arguments; without CuPy one of
    :class:`chainerx.cuda.ReductionKernel`.

    Args:
        in_params (str): Types and names of the inputs.
        out_params (str): Types and names of the outputs.
        map_expr (str): The expression that maps an element.
        reduce_expr (str): The expression that combines two of these, ``a`` and ``b``.
        post_map_expr (str): The expression that maps the result.
        identity: The result of an empty reduction, a string; None if there is no such thing.
        name (str): Of the kernel.
        **kwargs: Further arguments; hashable.

    Returns:
        cupy.ReductionKernel: The same one for the same arguments.

    Raises:
        RuntimeError: If there is neither CuPy nor a GPU for ChainerX.
    """
    texts = (in_params, out_params, map_expr, reduce_expr, post_map_expr)
    return _kernel('ReductionKernel', chainerx.cuda.reduce, *texts, identity, name, **kwargs)


def raw(code: str, name: str, *args: object, **kwargs: object) -> tp.Any:
    """A ``cupy.RawKernel``, made once per set of arguments; without CuPy one of
    :class:`chainerx.cuda.RawKernel`.

    Args:
        code (str): The CUDA C++ source.
        name (str): Of the kernel in it.
        *args: Further arguments; hashable.
        **kwargs: Further arguments; hashable.

    Returns:
        cupy.RawKernel: The same one for the same arguments.

    Raises:
        RuntimeError: If there is neither CuPy nor a GPU for ChainerX.
    """
    return _kernel('RawKernel', chainerx.cuda.raw, code, name, *args, **kwargs)


def fuse(*args: object, **kwargs: object) -> tp.Any:
    """``cupy.fuse``, as a decorator with or without arguments; without CuPy it changes nothing.

    Args:
        *args: The function; or nothing, for a decorator with arguments.
        **kwargs: As ``cupy.fuse`` takes them.

    Returns:
        The fused function, or a decorator.
    """
    if available:
        return cupy.fuse(*args, **kwargs)
    if len(args) == 1 and not kwargs and callable(args[0]):
        return args[0]
    return lambda f: f


def get_array_module(*args: object) -> types.Xp:
    """Same as `chainer.backend.get_array_module`, which is the name to use.

    Args:
        *args: Arrays, Variables or anything else.

    Returns:
        module: numpy, cupy or chainerx.
    """
    return _get_array_module(*args)


def get_max_workspace_size() -> int:
    """Bytes that cuDNN may use per call; 0 without cuDNN.

    Returns:
        int: Bytes: of CuPy's arrays, or without CuPy of those of chainerx on ``cuda:``.
    """
    if cudnn_enabled:
        return cudnn.get_max_workspace_size()
    return chainerx.cuda.max_workspace_size() if _has_cudnn() else 0


def set_max_workspace_size(size: int) -> None:
    """Sets the bytes that cuDNN may use per call; nothing happens without cuDNN.

    Args:
        size (int): Bytes, for CuPy's arrays and for those of chainerx on ``cuda:``.
    """
    if cudnn_enabled:
        cudnn.set_max_workspace_size(size)
    if _has_cudnn():
        chainerx.cuda.max_workspace_size(size)


@functools.cache
def _has_cudnn() -> bool:
    """Whether arrays of chainerx on ``cuda:`` have cuDNN."""
    return 'path' in chainerx.cuda.describe().get('cudnn', {})


_SHOULD_USE_CUDNN = {
    '==always': {'always': True, 'auto': False, 'never': False},
    '>=auto': {'always': True, 'auto': True, 'never': False},
}
_tensor_core_flag = {'always': True, 'auto': None, 'never': False}


def should_use_cudnn(level: str, lowest_version: int = 0) -> bool:
    """Whether ``config.use_cudnn`` allows cuDNN.

    Args:
        level: ``'==always'`` or ``'>=auto'``, the settings that allow it.
        lowest_version: The version that is needed.

    Returns:
        bool: False without cuDNN.

    Raises:
        ValueError: If ``level`` or the setting is unknown, where there is cuDNN.
    """
    if not cudnn_enabled or _cudnn_version < lowest_version:
        return False
    return _ideep.lookup(_SHOULD_USE_CUDNN, level, 'use_cudnn', config.use_cudnn)


def should_use_cudnn_tensor_core(dtype: DTypeLike) -> bool:
    """Whether ``config.use_cudnn_tensor_core`` allows tensor cores for ``dtype``.

    Args:
        dtype (dtype): Of the arrays.

    Returns:
        bool: False for 'auto' if this cuDNN has none for the dtype.

    Raises:
        ValueError: If the setting is unknown.
    """
    use = _ideep.lookup(
        {'': _tensor_core_flag}, '', 'use_cudnn_tensor_core', config.use_cudnn_tensor_core
    )
    if use is None:
        return cudnn_enabled and cudnn.is_tensor_core_available(dtype)
    return use


def get_cudnn_dropout_states() -> tp.Any:
    """The states of cuDNN's dropout on the current device, one per thread.

    Returns:
        cupy.cudnn.DropoutStates: The same object each time on one device.

    Raises:
        RuntimeError: Without cuDNN.
    """
    return get_cudnn_dropout_states_core(threading.get_ident())


@functools.cache
def _dropout_states_of(thread_id: int, device_id: int) -> tp.Any:
    import os

    # Seeds are given in the order of the first use, whichever the thread.
    seed = int(os.environ.get('CHAINER_SEED') or np.random.randint(2**31))
    return cudnn.DropoutStates(None, seed + _dropout_states_of.cache_info().currsize)


def get_cudnn_dropout_states_core(thread_id: int) -> tp.Any:
    """As `get_cudnn_dropout_states`, for the thread of that number.

    Args:
        thread_id (int): As ``threading.get_ident()`` gives it.

    Returns:
        cupy.cudnn.DropoutStates: The same object each time on one device.

    Raises:
        RuntimeError: Without cuDNN.
    """
    if not cudnn_enabled:
        raise RuntimeError('cuDNN is not enabled.')
    return _dropout_states_of(thread_id, Device().id)
