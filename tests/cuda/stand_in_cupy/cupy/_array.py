"""Arrays on the memory of a device. NumPy computes, between a copy to the host and one back."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

from cupy import _driver, cuda


def strides_of(shape, itemsize, order='C'):
    """Strides of a contiguous array."""
    dims = shape if order == 'F' else shape[::-1]
    steps, step = [], itemsize
    for n in dims:
        steps.append(step)
        step *= max(n, 1)
    return tuple(steps if order == 'F' else steps[::-1])


class _Host:
    """A copy of an array on the host with the same strides, in the order of the current stream."""

    def __init__(self, x, is_read=True):
        self.x = x
        low = sum(min(0, s * (n - 1)) for n, s in zip(x.shape, x.strides, strict=True))
        high = sum(max(0, s * (n - 1)) for n, s in zip(x.shape, x.strides, strict=True))
        self.nbytes = high - low + x.dtype.itemsize if x.size else 0
        self.start = x.data.ptr + low
        self.bytes = np.empty(self.nbytes, 'u1')
        if is_read and self.nbytes:
            stream = cuda.get_current_stream().ptr
            _driver.call(
                'cuMemcpyDtoHAsync_v2', self.bytes.ctypes.data, self.start, self.nbytes, stream
            )
        self.before = self.bytes.copy() if is_read else self.bytes
        self.array = np.ndarray(x.shape, x.dtype, self.bytes, -low if x.size else 0, x.strides)

    def view(self, result):
        """The array of the device for a view of the copy; None for another array."""
        if result is self.array:
            return self.x
        offset = result.__array_interface__['data'][0] - self.bytes.ctypes.data
        if not result.size:
            offset = self.x.data.ptr - self.start
        elif not 0 <= offset < self.nbytes:
            return None
        y = ndarray.__new__(ndarray)
        y.data = self.x.data + (self.start + offset - self.x.data.ptr)
        y.shape, y.strides, y.dtype, y.base = result.shape, result.strides, result.dtype, self.x
        return y

    def write_back(self):
        if not np.array_equal(self.before, self.bytes):
            upload(self.start, self.bytes)


def upload(address, host):
    stream = cuda.get_current_stream().ptr
    _driver.call('cuMemcpyHtoDAsync_v2', address, host.ctypes.data, host.nbytes, stream)


def from_host(host):
    """A new array with the values of one of the host."""
    host = np.asarray(host)
    order = 'F' if host.flags.f_contiguous and not host.flags.c_contiguous else 'C'
    y = ndarray(host.shape, host.dtype, order=order)
    if host.size:
        upload(y.data.ptr, np.asarray(host, order=order))
    return y


def _check_device(x):
    if x.data.device_id != (current := _driver.current_device()):
        raise ValueError(
            'Array device must be same as the current device: '
            f'array device = {x.data.device_id} while current = {current}'
        )


class _Call:
    """One call of NumPy, on copies of arrays of the device."""

    def __init__(self, is_read):
        self.is_read = is_read
        self.hosts = {}

    def swap(self, x):
        if isinstance(x, ndarray):
            if self.is_read:
                _check_device(x)
            if id(x) not in self.hosts:
                self.hosts[id(x)] = _Host(x, self.is_read)
            return self.hosts[id(x)].array
        if isinstance(x, np.ndarray):
            raise TypeError(f'Unsupported type {type(x)}')
        if isinstance(x, list | tuple):
            return type(x)(map(self.swap, x))
        return x

    def lift(self, result):
        if isinstance(result, list | tuple):
            return type(result)(map(self.lift, result))
        if isinstance(result, np.generic):
            return from_host(result)
        if not isinstance(result, np.ndarray):
            return result
        views = (host.view(result) for host in self.hosts.values())
        view = next((y for y in views if y is not None), None)
        return from_host(result) if view is None and self.is_read else view


def apply(function, args, kwargs, is_read=True):
    """Calls NumPy's function; without reading, None for what is no view."""
    call = _Call(is_read)
    result = function(*map(call.swap, args), **{k: call.swap(v) for k, v in kwargs.items()})
    if is_read:
        for host in call.hosts.values():
            host.write_back()
    return call.lift(result)


VIEWS = {'transpose', 'reshape', 'ravel', 'squeeze', 'swapaxes', 'broadcast_to', 'expand_dims'}
VIEWS |= {'moveaxis', 'rollaxis', 'view', 'diagonal', 'split', 'array_split', 'atleast_1d'}
#: What makes arrays of the current device after another one, and reads nothing of it.
LIKES = {'empty_like', 'zeros_like', 'ones_like', 'full_like'}


def lift(function):
    """Wraps NumPy's function for arrays of the current device; scalars become 0-d arrays."""
    name = function.__name__

    @functools.wraps(function, updated=())
    def lifted(*args, **kwargs):
        if name in VIEWS:
            views = apply(function, args, kwargs, is_read=False)
            if views is not None and not (isinstance(views, list | tuple) and None in views):
                return views
        if name in LIKES:
            call = _Call(is_read=False)
            return from_host(function(call.swap(args[0]), *args[1:], **kwargs))
        return apply(function, args, kwargs)

    return lifted


def _is_basic(key):
    keys = key if isinstance(key, tuple) else (key,)
    basic = slice, int, np.integer, type(Ellipsis), type(None)
    return all(isinstance(k, basic) and not isinstance(k, bool) for k in keys)


class _Flags:
    def __init__(self, x):
        geometry = _Host(x, is_read=False).array.flags
        self.c_contiguous, self.f_contiguous = geometry.c_contiguous, geometry.f_contiguous
        self.owndata = x.base is None

    def __getitem__(self, name):
        return getattr(self, name.lower())


class ndarray:
    """An array on a device."""

    __hash__ = None
    __array_priority__ = 100
    base = None

    def __init__(self, shape, dtype=float, memptr=None, strides=None, order='C'):
        self.shape = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
        self.dtype = np.dtype(dtype)
        self.strides = tuple(strides or strides_of(self.shape, self.dtype.itemsize, order))
        self.data = cuda.alloc(self.nbytes) if memptr is None else memptr

    def __array__(self, *args, **kwargs):
        raise TypeError(
            'Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct '
            'a NumPy array explicitly.'
        )

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if any(isinstance(x, np.ndarray) for x in inputs):
            return NotImplemented
        return apply(getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, function, types, args, kwargs):
        return lift(function)(*args, **kwargs)

    @property
    def __cuda_array_interface__(self):
        return {
            'shape': self.shape,
            'typestr': self.dtype.str,
            'descr': self.dtype.descr,
            'data': (self.data.ptr if self.size else 0, False),
            'strides': None if self.flags.c_contiguous else self.strides,
            'version': 3,
            'stream': cuda.get_current_stream().ptr or 1,
        }

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.dtype.itemsize)
    device = property(lambda self: self.data.device)
    flags = property(_Flags)
    T = property(lambda self: self.transpose())
    real = property(lambda self: self._part('real'))
    imag = property(lambda self: self._part('imag'))

    def _part(self, name):
        view = apply(operator.attrgetter(name), (self,), {}, is_read=False)
        return apply(operator.attrgetter(name), (self,), {}) if view is None else view

    def get(self, stream=None, order='C', out=None, blocking=True):
        with _driver.using(self.data.device_id):
            if stream is None:
                host = _Host(self)
            else:
                with stream:
                    host = _Host(self)
        if out is None:
            return host.array.copy(order)
        out[...] = host.array
        return out

    def set(self, arr, stream=None):
        if not isinstance(arr, np.ndarray):
            raise TypeError('Only numpy.ndarray can be set to cupy.ndarray')
        if arr.dtype != self.dtype or arr.shape != self.shape:
            raise ValueError(f'{arr.dtype} {arr.shape} for {self.dtype} {self.shape}')
        with _driver.using(self.data.device_id), stream or cuda.get_current_stream():
            if self.flags.c_contiguous:
                upload(self.data.ptr, np.ascontiguousarray(arr))
                return
            host = _Host(self)
            host.array[...] = arr
            host.write_back()

    def copy(self, order='C'):
        if not self.flags.c_contiguous or order not in 'CK':
            return apply(np.ndarray.copy, (self, order), {})
        _check_device(self)
        y = ndarray(self.shape, self.dtype)
        stream = cuda.get_current_stream().ptr
        _driver.call('cuMemcpyDtoDAsync_v2', y.data.ptr, self.data.ptr, self.nbytes, stream)
        return y

    def __getitem__(self, key):
        if _is_basic(key):
            keys = key if isinstance(key, tuple) else (key,)
            view = keys if Ellipsis in keys else (*keys, ...)  # 0-d arrays, not scalars
            view = apply(operator.getitem, (self, view), {}, is_read=False)
            if view is not None:
                return view
        return apply(operator.getitem, (self, key), {})

    def __setitem__(self, key, value):
        apply(operator.setitem, (self, key, value), {})

    def __len__(self):
        if not self.shape:
            raise TypeError('len() of unsized object')
        return self.shape[0]

    def __iter__(self):
        return map(self.__getitem__, range(len(self)))

    def __reduce__(self):
        import cupy

        return cupy.array, (self.get(),)


def _by_host(name):
    def method(self, *args):
        return getattr(self.get(), name)(*args)

    return method


for _name in ('__bool__', '__int__', '__float__', '__complex__', '__index__', '__format__'):
    setattr(ndarray, _name, _by_host(_name))
for _name in ('__repr__', '__str__', 'item', 'tolist', 'tobytes'):
    setattr(ndarray, _name, _by_host(_name))


def _is_operator(name):
    return any(n in vars(operator) for n in (name, name.replace('__r', '__', 1)))


# Operators and methods that the class lacks come from NumPy.
for _name, _method in vars(np.ndarray).items():
    wanted = _is_operator(_name) or not _name.startswith('_')
    if wanted and callable(_method) and _name not in vars(ndarray):
        setattr(ndarray, _name, lift(_method))
for _name in ('__deepcopy__', '__copy__'):
    setattr(ndarray, _name, lambda self, memo=None: self.copy())
