"""Memory of devices. Freed memory is used again, in the order of the stream it was taken on."""

from __future__ import annotations

import collections
import ctypes
import sys
import typing as tp

from cupy import _driver
from cupy.cuda.device import Device
from cupy.cuda.stream import get_current_stream

_UNIT = 512
_POISON = 0xA5
_DEVICE_ORDINAL = 9  # of cuPointerGetAttribute


class Memory:
    """A block of the pool."""

    def __init__(self, size):
        self.size = -(-size // _UNIT) * _UNIT
        self.device_id = _driver.current_device()
        self._stream = get_current_stream()
        self._free = MemoryPool.free[self.device_id, self._stream.ptr, self.size]
        self.ptr = self._free.pop() if self._free else _driver.get('cuMemAlloc_v2', self.size)
        MemoryPool.used += self.size
        # Who still reads what was there, on another stream, is late.
        _driver.call('cuMemsetD8Async', self.ptr, _POISON, self.size, self._stream.ptr)

    def __del__(self):
        if not hasattr(self, 'ptr') or sys.is_finalizing():
            return
        self._free.append(self.ptr)
        MemoryPool.used -= self.size

    @property
    def device(self):
        return Device(self.device_id)


class UnownedMemory:
    """Memory of another library, whose owner it keeps."""

    def __init__(self, ptr, size, owner, device_id=-1):
        if device_id < 0:
            device_id = _driver.get(
                'cuPointerGetAttribute', _DEVICE_ORDINAL, ptr, kind=ctypes.c_int
            )
        self.ptr, self.size, self.device_id, self._owner = ptr, size, device_id, owner

    @property
    def device(self):
        return Device(self.device_id)


class MemoryPointer:
    """A place in a block."""

    def __init__(self, mem, offset):
        if not 0 <= offset <= mem.size:
            raise ValueError(f'offset {offset} in memory of {mem.size} bytes')
        self.mem, self.ptr, self.device_id = mem, mem.ptr + offset, mem.device_id

    def __add__(self, offset):
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)

    def __sub__(self, offset):
        return self + -offset

    def __int__(self):
        return self.ptr

    @property
    def device(self):
        return Device(self.device_id)


def alloc(size):
    return MemoryPointer(Memory(max(size, 1)), 0)


class MemoryPool:
    """The pool of all devices; a block belongs to the stream that was current."""

    free: tp.ClassVar = collections.defaultdict(list)
    used = 0

    def used_bytes(self):
        return self.used

    def total_bytes(self):
        return self.used + sum(key[2] * len(blocks) for key, blocks in self.free.items())

    def free_all_blocks(self, stream=None):
        for blocks in self.free.values():
            while blocks:
                _driver.call('cuMemFree_v2', blocks.pop())
