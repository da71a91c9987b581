"""What of the CUDA runtime has names of its own in CuPy."""

import ctypes
import os

from cupy import _driver


def getDeviceCount():
    if runtimeGetVersion() // 1000 > driverGetVersion() // 1000:
        raise _driver.CUDARuntimeError('cudaErrorInsufficientDriver')
    return _driver.device_count()


getDevice = _driver.current_device
setDevice = _driver.set_device


def runtimeGetVersion():
    return int(os.environ.get('STAND_IN_CUPY_CUDA', 13000))


def driverGetVersion():
    return _driver.get('cuDriverGetVersion', kind=ctypes.c_int)


def deviceSynchronize():
    _driver.call('cuCtxSynchronize')
