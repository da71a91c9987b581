"""A stand-in for CuPy on the host, with what chainer's backends use of it, and strict about it.

It shows that the code for CuPy runs, and which device it asks for; not that a GPU would agree.
"""

from __future__ import annotations

import functools

import numpy as np

from cupy import cuda

__version__ = '13.0.0'
memos: list = []


class ndarray:
    """Host memory that is not a NumPy array, on a numbered device."""

    def __init__(self, data, device=None):
        assert isinstance(data, np.ndarray)
        self.data = data
        self.device = cuda.Device() if device is None else device

    shape = property(lambda self: self.data.shape)
    dtype = property(lambda self: self.data.dtype)
    ndim = property(lambda self: self.data.ndim)

    def get(self, stream=None):
        return self.data.copy()

    def set(self, arr, stream=None):
        assert arr.flags.c_contiguous
        assert (arr.shape, arr.dtype) == (self.shape, self.dtype)
        self.data[...] = arr

    def astype(self, dtype, copy=True):
        return ndarray(self.data.astype(dtype), self.device)

    def __setitem__(self, key, value):
        assert np.isscalar(value)
        self.data[key] = value


def array(obj, copy=True):
    return ndarray(np.array(obj.data if isinstance(obj, ndarray) else obj))


def empty(shape, dtype=float):
    return ndarray(np.empty(shape, dtype))


def empty_like(a):
    return ndarray(np.empty_like(a.data))


def copyto(dst, src):
    assert isinstance(src, ndarray)
    np.copyto(dst.data, src.data)


def isnan(a):
    return np.isnan(a.data)


class random:
    @staticmethod
    def normal(loc=0.0, scale=1.0, size=None):
        return ndarray(np.random.normal(loc, scale, size))


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
