"""The two devices of the stand-in; a variable holds the current one."""

from __future__ import annotations

import time
import typing as tp

_current = [0]


class Device:
    def __init__(self, device=None):
        self.id = _current[-1] if device is None else int(device)
        assert 0 <= self.id < 2

    def __eq__(self, other):
        return isinstance(other, Device) and other.id == self.id

    __hash__ = None

    def __enter__(self):
        _current.append(self.id)
        return self

    def __exit__(self, *args):
        _current.pop()

    def use(self):
        _current[-1] = self.id


class UnownedMemory:
    """Memory owned by another object, which is kept alive."""

    def __init__(self, ptr, size, owner, device_id=-1):
        assert device_id >= 0
        self.ptr, self.size, self.device_id = ptr, size, device_id
        self._owner = owner


class MemoryPointer:
    def __init__(self, mem, offset):
        assert 0 <= offset <= mem.size
        self.mem, self.ptr, self.device_id = mem, mem.ptr + offset, mem.device_id

    def __add__(self, offset):
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)


class Stream:
    """A stream that computes at once; `log` records the calls that CUDA would have got."""

    ptr = 0
    log: tp.ClassVar[list[str]] = []
    current: tp.ClassVar[list[Stream]] = []

    def __init__(self, null=False, non_blocking=False):
        self.name = 'null' if null else f'stream on {_current[-1]}'

    def __enter__(self):
        self.current.append(self)
        return self

    def __exit__(self, *args):
        self.current.pop()

    def record(self):
        self.log.append(f'event of {self.name}')
        return f'event of {self.name}'

    def wait_event(self, event):
        self.log.append(f'{self.name} waits for {event}')

    def synchronize(self):
        pass


Stream.null = Stream(null=True)


def get_current_stream(device_id=-1):
    return Stream.current[-1] if Stream.current else Stream.null


class Event:
    def record(self, stream=None):
        self.time = time.perf_counter()

    def synchronize(self):
        self.done = True


def get_elapsed_time(start, stop):
    assert stop.done
    return (stop.time - start.time) * 1000


class runtime:
    @staticmethod
    def getDeviceCount():
        return 2
