"""Devices, streams, events and memory."""

from cupy._driver import CUDARuntimeError
from cupy.cuda import nvtx, runtime
from cupy.cuda.device import Device
from cupy.cuda.memory import Memory, MemoryPointer, MemoryPool, UnownedMemory, alloc
from cupy.cuda.stream import Event, ExternalStream, Stream, get_current_stream, get_elapsed_time

__all__ = [
    'CUDARuntimeError',
    'Device',
    'Event',
    'ExternalStream',
    'Memory',
    'MemoryPointer',
    'MemoryPool',
    'Stream',
    'UnownedMemory',
    'alloc',
    'get_current_stream',
    'get_elapsed_time',
    'nvtx',
    'runtime',
]
