"""Streams and events. The current stream is one of a thread and a device."""

from __future__ import annotations

import ctypes
import sys
import threading

from cupy import _driver

_DISABLE_TIMING = 2
_local = threading.local()
_callbacks: list = []  # never released, since nobody knows when one has returned


def _current():
    if not hasattr(_local, 'streams'):
        _local.streams = {}
    return _local.streams


def get_current_stream(device_id=-1):
    """The current stream of a device, by default of the current one."""
    device = _driver.current_device() if device_id < 0 else device_id
    return _current().get(device, Stream.null)


class _Stream:
    def __init__(self, ptr, device_id):
        self.ptr, self.device_id = ptr, device_id
        self._outer = []

    def __eq__(self, other):
        return isinstance(other, _Stream) and other.ptr == self.ptr

    def __hash__(self):
        return hash(self.ptr)

    def use(self):
        device = _driver.current_device()
        if self.device_id not in (-1, device):
            raise RuntimeError(f'a stream of device {self.device_id} is used on device {device}')
        _current()[device] = self
        return self

    def __enter__(self):
        device = _driver.current_device()
        self._outer.append((device, get_current_stream(device)))
        return self.use()

    def __exit__(self, *args):
        device, outer = self._outer.pop()
        _current()[device] = outer

    @property
    def done(self):
        try:
            _driver.call('cuStreamQuery', self.ptr)
        except _driver.CUDARuntimeError:
            return False
        return True

    def synchronize(self):
        _driver.call('cuStreamSynchronize', self.ptr)

    def record(self, event=None):
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event):
        _driver.call('cuStreamWaitEvent', self.ptr, event.ptr, 0)

    def launch_host_func(self, callback, arg):
        _callbacks.append(_driver.HOST_FUNCTION(lambda _: callback(arg)))
        _driver.call('cuLaunchHostFunc', self.ptr, _callbacks[-1], None)


class Stream(_Stream):
    """A stream that is destroyed with its last reference."""

    def __init__(self, null=False, non_blocking=False, ptds=False, priority=None):
        if null or ptds:
            super().__init__(2 if ptds else 0, -1)
            return
        ptr = _driver.get('cuStreamCreateWithPriority', int(non_blocking), priority or 0)
        super().__init__(ptr, _driver.current_device())

    def __del__(self):
        if getattr(self, 'ptr', 0) > 2 and not sys.is_finalizing():
            with _driver.using(self.device_id):
                _driver.call('cuStreamDestroy_v2', self.ptr)


Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)


class ExternalStream(_Stream):
    """A stream of another library."""

    def __init__(self, ptr, device_id=-1):
        super().__init__(ptr, device_id)


class Event:
    """An event."""

    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self.ptr = _driver.get('cuEventCreate', _DISABLE_TIMING * disable_timing)

    def __del__(self):
        if hasattr(self, 'ptr') and not sys.is_finalizing():
            _driver.call('cuEventDestroy_v2', self.ptr)

    def record(self, stream=None):
        stream = get_current_stream() if stream is None else stream
        _driver.call('cuEventRecord', self.ptr, stream.ptr)

    def synchronize(self):
        _driver.call('cuEventSynchronize', self.ptr)

    @property
    def done(self):
        try:
            _driver.call('cuEventQuery', self.ptr)
        except _driver.CUDARuntimeError:
            return False
        return True


def get_elapsed_time(start_event, end_event):
    return _driver.get('cuEventElapsedTime', start_event.ptr, end_event.ptr, kind=ctypes.c_float)
