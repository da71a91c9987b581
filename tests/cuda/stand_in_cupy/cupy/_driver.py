"""Calls of the driver for tests, as CuPy's C code calls NVIDIA's."""

from __future__ import annotations

import ctypes
import os

_library = ctypes.CDLL(os.environ['CHAINERX_CUDA_TEST_DRIVER'] + '/libcuda.so.1')
_contexts: dict[int, int] = {}
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class CUDARuntimeError(RuntimeError):
    """An error code of the driver."""


def call(name, *args):
    """Calls a function; integers may be addresses."""
    wide = [ctypes.c_uint64(a) if isinstance(a, int) else a for a in args]
    if code := getattr(_library, name)(*wide):
        raise CUDARuntimeError(f'{name} returned {code}')


def get(name, *args, kind=ctypes.c_uint64):
    """What a function writes to its first argument."""
    value = kind()
    call(name, ctypes.byref(value), *args)
    return value.value


def device_count():
    call('cuInit', 0)
    return get('cuDeviceGetCount', kind=ctypes.c_int)


def _context(device):
    if device not in _contexts:
        if not 0 <= device < device_count():
            raise CUDARuntimeError(f'invalid device ordinal: {device}')
        _contexts[device] = get('cuDevicePrimaryCtxRetain', device)
    return _contexts[device]


def current_device():
    """That of the current context, whoever made it current: so does NVIDIA's runtime."""
    call('cuInit', 0)
    context = get('cuCtxGetCurrent')
    if context == 0:
        set_device(0)
        return 0
    for device in range(device_count()):
        if _context(device) == context:
            return device
    raise CUDARuntimeError('the current context is of no device')


def set_device(device):
    call('cuCtxSetCurrent', _context(device))


class using:
    """Makes a device the current one in a block."""

    def __init__(self, device):
        self.device = device

    def __enter__(self):
        self.outer = current_device()
        set_device(self.device)

    def __exit__(self, *args):
        set_device(self.outer)
