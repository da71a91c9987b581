"""A stand-in for CuPy on the host, as strict as CuPy about mixing host and device.

Its arrays are described as CuPy's are (`ndarray.data` is a `cuda.MemoryPointer`), so that chainerx
can take and make them; NumPy computes. It shows that the code for CuPy runs, and which device it
asks for, but not that a GPU would give the same results.
"""

from __future__ import annotations

import ctypes
import functools
import operator

import numpy as np

from cupy import cuda

__version__ = '13.0.0'
memos: list = []

float16, float32, float64 = np.float16, np.float32, np.float64
int32, int64, bool_ = np.int32, np.int64, np.bool_
newaxis = None


def _host(x):
    """Returns the NumPy array that computes. Arrays of the host are refused, as CuPy does."""
    if isinstance(x, ndarray):
        return x._host
    if isinstance(x, np.ndarray):
        raise TypeError(f'Unsupported type {type(x)}')
    if isinstance(x, list | tuple):
        return type(x)(_host(item) for item in x)
    return x


def _lift(function):
    """Wraps NumPy's function for arrays of one device; scalars become 0-d arrays."""

    @functools.wraps(function)
    def lifted(*args, **kwargs):
        ids = {x.device.id for x in (*args, *kwargs.values()) if isinstance(x, ndarray)}
        assert len(ids) < 2, f'arrays of devices {ids} meet'
        result = function(*map(_host, args), **{k: _host(v) for k, v in kwargs.items()})
        here = not ids or function.__name__.endswith('_like')  # made on the current device
        device = None if here else cuda.Device(ids.pop())
        if isinstance(result, np.ndarray | np.generic):
            return _wrap(np.asarray(result), device)
        return result

    return lifted


def _wrap(host, device=None):
    x = ndarray.__new__(ndarray)
    x._host = host
    x.device = cuda.Device() if device is None else device
    return x


class ndarray:
    """Host memory that is not a NumPy array, on a numbered device."""

    __hash__ = None

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if any(isinstance(x, np.ndarray) for x in inputs):
            return NotImplemented
        return _lift(getattr(ufunc, method))(*inputs, **kwargs)

    def __init__(self, shape, dtype=float, memptr=None, strides=None, order='C'):
        if memptr is None:
            self._host = np.empty(shape, dtype)
            self.device = cuda.Device()
            return
        memory = memptr.mem
        buffer = (ctypes.c_char * memory.size).from_address(memory.ptr or id(self))
        offset = memptr.ptr - memory.ptr
        self._host = np.ndarray(shape, dtype, buffer, offset, strides)
        self._memory = memory
        self.device = cuda.Device(memory.device_id)

    def __array__(self, *args, **kwargs):
        raise TypeError('Implicit conversion to a NumPy array is not allowed.')

    @property
    def data(self):
        address = self._host.__array_interface__['data'][0]
        memory = cuda.UnownedMemory(address, self._host.nbytes, self, self.device.id)
        return cuda.MemoryPointer(memory, 0)

    shape = property(lambda self: self._host.shape)
    strides = property(lambda self: self._host.strides)
    dtype = property(lambda self: self._host.dtype)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    nbytes = property(lambda self: self._host.nbytes)
    T = property(lambda self: _wrap(self._host.T, self.device))

    def get(self, stream=None):
        return self._host.copy()

    def set(self, arr, stream=None):
        assert arr.flags.c_contiguous
        assert (arr.shape, arr.dtype) == (self.shape, self.dtype)
        self._host[...] = arr

    def __setitem__(self, key, value):
        self._host[_host(key)] = _host(value)

    def __len__(self):
        return len(self._host)

    def __float__(self):
        return float(self._host)

    def __int__(self):
        return int(self._host)

    def __bool__(self):
        return bool(self._host)

    def __reduce__(self):
        return array, (self._host,)


def _is_operator(name):
    return any(n in vars(operator) for n in (name, name.replace('__r', '__', 1)))


# Operators and methods that the class lacks come from NumPy.
for _name, _method in vars(np.ndarray).items():
    wanted = _is_operator(_name) or not _name.startswith('_')
    if wanted and callable(_method) and _name not in vars(ndarray):
        setattr(ndarray, _name, _lift(_method))


def array(obj, dtype=None, copy=True):
    if cuda.Stream.current:
        cuda.Stream.log.append(f'copy on {cuda.Stream.current[-1].name}')
    return _wrap(np.array(obj._host if isinstance(obj, ndarray) else obj, dtype))


def asarray(obj, dtype=None):
    if isinstance(obj, ndarray) and dtype in (None, obj.dtype):
        return obj
    return array(obj, dtype)


def copyto(dst, src):
    assert isinstance(src, ndarray)
    np.copyto(dst._host, src._host)


class _Add:
    """``cupy.add`` and ``cupy.add.at``."""

    __call__ = staticmethod(_lift(np.add))
    at = staticmethod(_lift(np.add.at))


add = _Add()


def __getattr__(name):
    return _lift(getattr(np, name))


def asnumpy(x):
    return x.get() if isinstance(x, ndarray) else np.asarray(x)


class random:
    seed = staticmethod(np.random.seed)

    @staticmethod
    def normal(loc=0.0, scale=1.0, size=None):
        return _wrap(np.asarray(np.random.normal(loc, scale, size)))

    @staticmethod
    def uniform(low=0.0, high=1.0, size=None, dtype=float):
        return _wrap(np.asarray(np.random.uniform(low, high, size)).astype(dtype))


def memoize(for_each_device=False):
    def decorator(f):
        cached = functools.lru_cache(maxsize=None)(f)
        memos.append(cached)
        return cached

    return decorator


def clear_memo():
    for memo in memos:
        memo.cache_clear()


def fuse(*args, **kwargs):
    return ('fuse', args, kwargs)


class _Kernel:
    def __init__(self, *args, **kwargs):
        self.args = args
        self.kwargs = kwargs


class ElementwiseKernel(_Kernel):
    pass


class ReductionKernel(_Kernel):
    pass


class RawKernel(_Kernel):
    pass
