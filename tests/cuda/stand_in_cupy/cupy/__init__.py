"""A stand-in for CuPy on the memory and streams of the driver for tests.

Arrays have addresses of the driver, which the host can't read; what is computed is copied to the
host and back on the current stream, which may be late. As in CuPy without peer access, an array
of another device than the current one can't be computed with.
"""

from __future__ import annotations

import functools

import numpy as np

from cupy import _array, _driver, cuda, random
from cupy._array import ndarray
from cupy._kernels import ElementwiseKernel, RawKernel, ReductionKernel

__all__ = ['ElementwiseKernel', 'RawKernel', 'ReductionKernel', 'cuda', 'ndarray', 'random']
__version__ = '14.2.0'
_memos: list = []
_pool = cuda.MemoryPool()


def get_default_memory_pool():
    return _pool


def array(obj, dtype=None, copy=True, order='K', subok=False, ndmin=0):
    if isinstance(obj, ndarray):
        if obj.data.device_id != _driver.current_device():
            obj = _array.from_host(obj.get())
        elif copy:
            obj = obj.copy() if order == 'K' else obj.copy(order)
        obj = obj if dtype in (None, obj.dtype) else obj.astype(dtype)
        return obj if ndmin <= obj.ndim else obj.reshape((1,) * (ndmin - obj.ndim) + obj.shape)
    if hasattr(obj, '__cuda_array_interface__'):
        shared = _of_interface(obj)
        return array(shared, dtype, copy, order) if copy or dtype else shared
    if isinstance(obj, list | tuple) and any(isinstance(x, ndarray) for x in obj):
        return _array.apply(np.array, (list(obj), dtype), {})
    return _array.from_host(np.array(obj, dtype, ndmin=ndmin, order=order))


def asarray(obj, dtype=None, order='K'):
    return array(obj, dtype, copy=False, order=order)


def _of_interface(obj):
    """Shares the memory, in the order of the streams."""
    interface = obj.__cuda_array_interface__
    address = interface['data'][0]
    dtype = np.dtype(interface['typestr'])
    if (stream := interface.get('stream')) is not None:
        event = cuda.ExternalStream(stream).record()
        cuda.get_current_stream().wait_event(event)
    shape, strides = interface['shape'], interface.get('strides')
    size = int(np.prod(shape)) * dtype.itemsize
    memory = cuda.UnownedMemory(address, size, obj) if size else cuda.Memory(1)
    return ndarray(shape, dtype, cuda.MemoryPointer(memory, 0), strides)


def asnumpy(a, stream=None):
    return a.get(stream) if isinstance(a, ndarray) else np.asarray(a)


def ascontiguousarray(a, dtype=None):
    a = asarray(a, dtype)
    return a if a.flags.c_contiguous else a.copy('C')


def copyto(dst, src, casting='same_kind', where=None):
    if not isinstance(dst, ndarray):
        raise TypeError('dst must be a cupy.ndarray')
    if isinstance(src, ndarray) and src.data.device_id != dst.data.device_id:
        with dst.device:
            src = array(src)
    mask = {} if where is None else {'where': where}
    with dst.device:
        _array.apply(np.copyto, (dst, src), {'casting': casting} | mask)


def memoize(for_each_device=False):
    def decorator(f):
        @functools.cache
        def remembered(device, *args, **kwargs):
            return f(*args, **kwargs)

        @functools.wraps(f)
        def call(*args, **kwargs):
            return remembered(cuda.Device().id if for_each_device else -1, *args, **kwargs)

        _memos.append(remembered)
        return call

    return decorator


def clear_memo():
    for memo in _memos:
        memo.cache_clear()


def fuse(*args, **kwargs):
    """As CuPy's where nothing can be fused: the function itself."""
    return args[0] if args and callable(args[0]) else lambda f: f


class _Lifted:
    """A function of NumPy, and its methods if it is a ufunc."""

    def __init__(self, function):
        self._function = function
        self._call = _array.lift(function)
        self.__name__ = function.__name__

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)

    def __getattr__(self, name):
        return _array.lift(getattr(self._function, name))


@functools.cache
def __getattr__(name):
    value = getattr(np, name)
    is_function = callable(value) and not isinstance(value, type)
    return _Lifted(value) if is_function else value
