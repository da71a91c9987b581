"""Memory that is shared with other libraries, in the order of streams."""

import pytest

# The part of another library: its own streams and memory, through the driver.
OTHER = """
import ctypes
import gc
import os
import threading
import weakref
import numpy as np
import pytest
import chainerx as chx
from chainerx import cuda

chx.ones(1, 'float32', device='cuda:1')
chx.ones(1, 'float32', device='cuda:0')
driver = ctypes.CDLL(os.environ['CHAINERX_CUDA_TEST_DRIVER'] + '/libcuda.so.1')
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
N = 1000
kept = []


def call(name, *arguments):
    assert getattr(driver, name)(*arguments) == 0, name


def new_stream():
    stream = ctypes.c_void_p()
    call('cuStreamCreateWithPriority', ctypes.byref(stream), 1, 0)
    return stream.value


class Blocked:
    '''What is queued to a stream from now on waits until the end of the block.'''

    def __init__(self, stream):
        self.go = threading.Event()
        kept.append(HOST_FUNCTION(lambda _: self.go.wait(20)))
        call('cuLaunchHostFunc', ctypes.c_void_p(stream), kept[-1], None)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.go.set()


class Foreign:
    '''An array of 4-byte integers in memory of the other library.'''

    def __init__(self, **changes):
        pointer = ctypes.c_uint64()
        call('cuMemAlloc_v2', ctypes.byref(pointer), ctypes.c_size_t(4 * N))
        self.pointer = pointer.value
        self.stream = new_stream()
        self.__cuda_array_interface__ = {
            'shape': (N,),
            'typestr': '<i4',
            'data': (self.pointer, False),
            'strides': None,
            'version': 3,
            'stream': self.stream,
        } | changes

    def fill(self, value):
        call('cuMemsetD32Async', ctypes.c_uint64(self.pointer), value, ctypes.c_size_t(N),
             ctypes.c_void_p(self.stream))


def read(pointer, stream):
    '''What the other library reads on its stream, once it is asked.'''
    host = np.zeros(N, 'int32')
    call('cuMemcpyDtoHAsync_v2', ctypes.c_void_p(host.ctypes.data), ctypes.c_uint64(pointer),
         ctypes.c_size_t(4 * N), ctypes.c_void_p(stream))
    call('cuStreamSynchronize', ctypes.c_void_p(stream))
    return host


def finish(stream):
    call('cuStreamSynchronize', ctypes.c_void_p(stream))


def later(block):
    '''Lets it go while this thread waits.'''
    threading.Timer(0.1, block.go.set).start()
"""

FROM_INTERFACE = """
foreign = Foreign()
block = Blocked(foreign.stream)
foreign.fill(7)
x = chx.asarray(foreign)
assert x.device.name == 'cuda:0' and x.data_ptr == foreign.pointer and x.dtype == 'int32'
later(block)
y = x + 1
assert (chx.to_numpy(y) == 8).all()  # ours waits for theirs
x[0] = 5
assert chx.to_numpy(x)[0] == read(foreign.pointer, foreign.stream)[0] == 5

# Copies, dtypes, devices.
assert chx.array(foreign).data_ptr != foreign.pointer
assert chx.asarray(foreign, 'float32').dtype == 'float32'
assert chx.asarray(foreign, device='native:0').device.name == 'native:0'
assert chx.asarray(foreign, copy=False).data_ptr == foreign.pointer
strided = Foreign(shape=(2, 5), strides=(400, 8), stream=None)
strided.fill(3)
finish(strided.stream)
x = chx.asarray(strided)
assert x.strides == (400, 8) and (chx.to_numpy(x) == 3).all()
assert chx.asarray(Foreign(shape=(0, 3), data=(0, False))).shape == (0, 3)
with pytest.raises(chx.ChainerxError, match='read-only'):
    chx.asarray(Foreign(data=(strided.pointer, True)))[0] = 1

# It stays alive until our work on it is done.
gone = weakref.ref(foreign)
with Blocked(cuda.current_stream().ptr):
    x = chx.asarray(foreign)
    y = x * 2
    del foreign, x
    gc.collect()
    assert gone() is not None
cuda.synchronize()
for _ in range(1000):
    if gone() is None:
        break
    threading.Event().wait(0.005)
assert gone() is None

for change, error, message in [
    ({'stream': 0}, ValueError, 'stream is 0, expected 1, 2 or an address'),
    ({'mask': 1}, ValueError, 'masks are not supported'),
    ({'strides': (1, 2)}, ValueError, '2 strides for shape'),
    ({'data': 5}, TypeError, 'expected a tuple of address and read-only flag'),
    ({'data': (64, False)}, ValueError, 'no address of a GPU'),
    ({'shape': None}, ValueError, 'it has no shape'),
    ({'data': (strided.pointer + 1, False)}, ValueError, 'not aligned'),
]:
    with pytest.raises(error, match=message):
        chx.asarray(Foreign(**change))
print('done')
"""

TO_INTERFACE = """
side = cuda.Stream('cuda:1')
x = chx.arange(12, dtype='float32', device='cuda:1').reshape(3, 4)
interface = x.__cuda_array_interface__
assert interface['shape'] == (3, 4) and interface['typestr'] == '<f4'
assert interface['data'] == (x.data_ptr, False) and interface['strides'] is None
assert interface['version'] == 3 and interface['stream'] == cuda.current_stream('cuda:1').ptr
with side:
    assert x.T.__cuda_array_interface__['stream'] == side.ptr
assert x.T.__cuda_array_interface__['strides'] == (4, 16)
assert x[:0].__cuda_array_interface__['data'][0] == 0
assert not hasattr(chx.ones(3), '__cuda_array_interface__')
assert not hasattr(x.astype('bfloat16'), '__cuda_array_interface__')
assert not hasattr(x, '__array_interface__')
print('done')
"""

TO_DLPACK = """
mine, theirs = cuda.Stream(), new_stream()
with mine:
    x = chx.zeros(N, 'int32', device='cuda:0')
    block = Blocked(mine.ptr)
    x += 3
    capsule = x.__dlpack__(stream=theirs, max_version=(1, 0))
    later(block)
assert (read(x.data_ptr, theirs) == 3).all()  # theirs waits for ours
assert x.__dlpack_device__() == (2, 0)

# No order is made for -1; None is the legacy default stream.
with mine, Blocked(mine.ptr):
    x.__dlpack__(stream=-1)
    finish(1)
block = Blocked(mine.ptr)
with mine:
    x += 1
    x.__dlpack__()
later(block)
assert (read(x.data_ptr, 1) == 4).all()

# The memory is not used again while the other library may use it.
pointer = x.data_ptr
capsule = x.__dlpack__(stream=1, max_version=(1, 0))
block = Blocked(1)
del x, capsule
with mine:
    y = chx.zeros(N, 'int32', device='cuda:0')
assert y.data_ptr != pointer
block.go.set()
finish(1)
# A stream of another library may be gone by then, so the host waits.
x = chx.full(N, 6, 'int32', device='cuda:0')
capsule = x.__dlpack__(stream=theirs)
block = Blocked(theirs)
later(block)
del x, capsule
assert block.go.is_set()
call('cuStreamDestroy_v2', ctypes.c_void_p(theirs))

x = chx.arange(6, dtype='float32', device='cuda:0')
host = chx.from_dlpack(x.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
assert host.device.name == 'native:0' and chx.to_numpy(host)[5] == 5
assert chx.from_dlpack(x).data_ptr == x.data_ptr
assert chx.from_dlpack(x, copy=True).data_ptr != x.data_ptr
assert chx.from_dlpack(x, device='cuda:1').device.name == 'cuda:1'
assert chx.from_dlpack(x.__dlpack__(copy=True)).data_ptr != x.data_ptr
for arguments, message in [
    ({'stream': 0}, 'stream is 0, expected -1'),
    ({'dl_device': (2, 1)}, 'it can\\'t be had on device'),
    ({'dl_device': (1, 0), 'copy': False}, 'without a copy'),
]:
    with pytest.raises(BufferError, match=message):
        x.__dlpack__(**arguments)
print('done')
"""

FROM_DLPACK = """
class Producer:
    '''Hands on an array of ours, as if it were its own.'''

    def __init__(self, x, versions=True):
        self.x = x
        self.versions = versions
        self.asked = []

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, **arguments):
        if not self.versions and 'max_version' in arguments:
            raise TypeError('max_version')
        self.asked.append(arguments)
        return self.x.__dlpack__(**arguments)


theirs = cuda.Stream()
with theirs:
    produced = chx.zeros(N, 'int32', device='cuda:0')
    block = Blocked(theirs.ptr)
    produced += 9
for versions in (True, False):
    mine = cuda.Stream()
    producer = Producer(produced, versions)
    with mine:
        x = chx.from_dlpack(producer)
        assert producer.asked[0]['stream'] == mine.ptr
        assert ('max_version' in producer.asked[0]) == versions
        assert x.data_ptr == produced.data_ptr
later(block)
cuda.synchronize()
assert (chx.to_numpy(produced) == 9).all()

# A capsule by itself is in the order of the legacy default stream.
legacy = cuda.Stream.from_ptr(1)
with legacy:
    y = chx.zeros(N, 'int32', device='cuda:0')
    block = Blocked(1)
    y += 4
    capsule = y.__dlpack__(stream=1)
x = chx.from_dlpack(capsule)
later(block)
assert (chx.to_numpy(x * 2) == 8).all()
print('done')
"""

GONE_STREAMS = """
theirs = new_stream()
with cuda.Stream.from_ptr(theirs):
    x = chx.ones(N, 'int32', device='cuda:0')
    y = chx.zeros(N, 'int32', device='cuda:0')
    block = Blocked(theirs)
    y += x
    later(block)
    z = y * 2
side = cuda.Stream()
side.wait_stream(cuda.Stream.from_ptr(theirs))
with side:
    assert int((z + y).sum()) == 3 * N
del x, y, z
finish(theirs)
call('cuStreamDestroy_v2', ctypes.c_void_p(theirs))

# Nothing is asked of the stream any more, although its blocks are still cached.
driver.cx_test_calls.restype = ctypes.c_uint64
before = driver.cx_test_calls(b'cuStreamSynchronize')
cuda.empty_cache()
assert driver.cx_test_calls(b'cuStreamSynchronize') == before
x = chx.asarray(Foreign(stream=None))
del x
print('done')
"""

PROGRAMS = {
    'streams that have gone': GONE_STREAMS,
    'from __cuda_array_interface__': FROM_INTERFACE,
    'to __cuda_array_interface__': TO_INTERFACE,
    'to DLPack': TO_DLPACK,
    'from DLPack': FROM_DLPACK,
}


@pytest.mark.parametrize('name', PROGRAMS)
def test_programs(run, name):
    assert run(OTHER + PROGRAMS[name]) == 'done\n'
