"""Programs that misuse chainerx.cuda, in processes of their own: errors are clear, and harmless."""

import pytest

HEAD = """
import gc
import threading

import numpy as np
import pytest

import chainerx as chx
from chainerx import cuda


def on_thread(f):
    found = []
    thread = threading.Thread(target=lambda: found.append(f()))
    thread.start()
    thread.join()
    return found[0]


x = chx.arange(6, dtype='float32', device='cuda:0').reshape(2, 3)
"""

STREAMS = """
# The stream of a handle that nobody has is nobody else's.
stream = cuda.Stream()
handle = stream.ptr
del stream
wrapped = cuda.Stream.from_ptr(handle)
others = [cuda.Stream() for _ in range(3)]
assert handle not in [other.ptr for other in others]
del wrapped
assert len({cuda.Stream().ptr for _ in range(2)} | {cuda.current_stream().ptr}) == 2
default = cuda.Stream.from_ptr(cuda.current_stream().ptr)
del default
assert cuda.Stream() != cuda.current_stream()

# A stream that a thread has entered stays, whoever forgets it.
stream = cuda.Stream()
stream.__enter__()
held, handle = [stream], stream.ptr
del stream
on_thread(held.clear)
assert cuda.current_stream().ptr == handle and float(x.sum()) == 15
assert cuda.Stream().ptr != handle
cuda.current_stream().synchronize()


def enter():
    stream = cuda.Stream()
    stream.__enter__()
    return stream


on_thread(enter)
gc.collect()
assert float(x.sum()) == 15

for wrong in ('x', 3, cuda.current_stream()):
    with pytest.raises(TypeError, match='expected a chainerx.cuda.Event'):
        cuda.current_stream().record(wrong)
"""

# Other errors neither hide nor replace those of a thread.
INDICES = """
bad = chx.array(np.full(5000, 7), device='cuda:0')
barrier = threading.Barrier(24)


def fail(k):
    index = chx.array([0, k], device='cuda:0')
    barrier.wait()
    x.take(index, axis=0)
    barrier.wait()
    with pytest.raises(IndexError, match=f'take: index {k} is out of range for an axis of length'):
        cuda.synchronize()
    return k


x.take(bad, axis=0)
threads = [threading.Thread(target=fail, args=(100 + k,)) for k in range(24)]
seen = []
threading.excepthook = lambda args: seen.append(args.exc_value)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not seen, seen
with pytest.raises(IndexError, match='index 7'):
    cuda.synchronize()
cuda.synchronize()

# The first of a thread's errors counts, and names where it was.
x.take(chx.array([[0, 1], [0, -3]], device='cuda:0'), axis=0)
x.take(bad, axis=1)
with pytest.raises(IndexError, match=r'take: index -3 is .* length 2: indices\\[3\\]'):
    cuda.synchronize()
cuda.synchronize()
assert float(x.sum()) == 15
"""

SHARED = """
good = dict(x.__cuda_array_interface__)


class Producer:
    def __init__(self, **changes):
        self.changes = changes

    @property
    def __cuda_array_interface__(self):
        return good | self.changes


class Raising:
    @property
    def __cuda_array_interface__(self):
        raise ZeroDivisionError('the producer')


for error, message, changes in [
    (ValueError, 'its data is null', {'data': (0, False)}),
    (ValueError, r'strides\\[0\\] is \\d+, too large to address', {'strides': (1 << 62, 4)}),
    (ValueError, 'is no address of a GPU', {'data': (id(x), False)}),
    (ValueError, 'stream is 0, expected 1, 2 or an address', {'stream': 0}),
    (ValueError, 'stream is -1, expected 1, 2 or an address', {'stream': -1}),
]:
    with pytest.raises(error, match=message):
        chx.asarray(Producer(**changes))
assert chx.asarray(Producer(data=(0, False), shape=(0, 3))).shape == (0, 3)
with pytest.raises(ZeroDivisionError, match='the producer'):
    chx.asarray(Raising())


class Liar:
    def __dlpack_device__(self):
        return 2, 1

    def __dlpack__(self, **kwargs):
        return capsule


capsule = x.__dlpack__(max_version=(1, 0))
import ctypes

get = ctypes.pythonapi.PyCapsule_GetPointer
get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
tensor = get(capsule, b'dltensor_versioned')
# After version (2 x 4 bytes), context, deleter, flags and data: the index of the device.
ctypes.c_int32.from_address(tensor + 8 + 8 + 8 + 8 + 8 + 4).value = 1
with pytest.raises(BufferError, match='from_dlpack: the memory is of cuda:0, not of cuda:1'):
    chx.from_dlpack(Liar())
assert float(x.sum()) == 15
"""

MEMORY = """
large = chx.ones(10**6, 'float32', device='cuda:0')
cuda.set_memory_limit(1000)
with pytest.raises(MemoryError, match='0 are free; the largest .*; set_memory_limit.. allows 1000'):
    large + 1
cuda.set_memory_limit(None)
assert float((large + 1).sum()) == 2 * 10**6
host = cuda.pinned(chx.ones(3, 'float32').require_grad())
assert float(host.sum()) == 3
"""

# A kernel that failed gives no values, wherever they are copied.
FAILED = """
class Producer:
    __cuda_array_interface__ = dict(x.__cuda_array_interface__, shape=(9,), strides=(1 << 40,))


bad = chx.asarray(Producer())
x[:, 0] * 2  # loads the kernel
cuda.synchronize()
queued = bad * 2
for device in ('cuda:1', 'native:0'):
    with pytest.raises(chx.BackendError, match='nothing more can be computed on this GPU by this'):
        queued.to_device(device)
with pytest.raises(chx.BackendError, match='a kernel has failed'):
    chx.asarray(Producer())
assert float(chx.ones(3, 'float32', device='cuda:1').sum()) == 3
"""

# Ctrl-C ends each wait, and the work goes on.
INTERRUPTS = """
import ctypes
import os
import signal

driver = ctypes.CDLL(os.environ['CHAINERX_CUDA_TEST_DRIVER'] + '/libcuda.so.1')
stream = cuda.current_stream()
event = cuda.Event()
y = x + 1
cuda.synchronize()


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def wait(_):
    assert go.wait(30)


for work in (
    cuda.synchronize,
    stream.synchronize,
    event.synchronize,
    lambda: float(y[0, 0]),
    lambda: chx.to_numpy(y),
):
    go = threading.Event()
    assert driver.cuLaunchHostFunc(ctypes.c_void_p(stream.ptr), wait, None) == 0
    y += 1
    event.record()
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    assert not event.query()
    go.set()
    timer.join()
assert float(y[0, 0]) == 6
"""

PROGRAMS = {
    'streams': STREAMS,
    'indices': INDICES,
    'shared': SHARED,
    'memory': MEMORY,
    'failed': FAILED,
    'interrupts': INTERRUPTS,
}


@pytest.mark.parametrize('name', PROGRAMS)
def test_programs(run, name):
    assert run(HEAD + PROGRAMS[name] + "print('done')") == 'done\n'


def test_a_failed_allocation_is_not_counted(run):
    program = """
with pytest.raises(chx.BackendError, match='cuMemMap'):
    chx.empty(90 << 20, 'uint8', device='cuda:0')
cuda.set_memory_limit(100 << 20)
chx.empty(90 << 20, 'uint8', device='cuda:0')
print('done')
"""
    assert run(HEAD + program, FAIL='cuMemMap:2:999') == 'done\n'


@pytest.mark.parametrize(
    'function', ['cuModuleLoadData', 'cuModuleGetFunction', 'cuLaunchKernelEx']
)
def test_cached_memory_makes_room_for_kernels(run, function):
    """The driver takes memory for code, stacks and queues when it needs them."""
    program = """
del x
assert cuda.memory_stats()['cached'] > 0
assert float(chx.ones(3, 'float32', device='cuda:0').sum()) == 3
"""
    assert run(HEAD + program + "print('done')", FAIL=f'{function}:2:2') == 'done\n'


def test_no_more_pinned_memory(run):
    program = 'import chainerx; chainerx.cuda.empty_pinned(3)'
    message = run(program, check=False, FAIL='cuMemHostAlloc:2+:2')
    assert 'empty_pinned: the host has no more page-locked memory: ' in message


def test_an_old_gpu_is_refused(run):
    program = 'import chainerx as chx\nassert not chx.cuda.is_available()\n'
    program += "chx.ones(3, device='cuda:0')"
    message = 'has compute capability 7.5, but 8.0 is needed; use another GPU, or device='
    assert message in run(program, check=False, ARCH=75)


def test_hidden_devices_are_named(run):
    program = "import chainerx; chainerx.ones(3, device='cuda:1')"
    message = "index 1 is out of range: backend 'cuda' has 1 device; CUDA_VISIBLE_DEVICES is '3'"
    environment = {'CUDA_VISIBLE_DEVICES': '3'}
    assert message in run(program, check=False, DEVICES=1, environment=environment)
