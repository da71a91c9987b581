"""Streams, events, memory and copies of chainerx.cuda, in processes of their own."""

import pytest

STREAMS = """
import numpy as np
import chainerx as chx
from chainerx import cuda

main = cuda.current_stream()
assert main == cuda.current_stream('cuda:0') and main.device.name == 'cuda:0'
low, high = cuda.Stream(), cuda.Stream('cuda:0', priority=-99)
assert low != high and (low.priority, high.priority) == (0, -5)
with low as entered:
    assert entered is low and cuda.current_stream() == low
    with high:
        assert cuda.current_stream() == high
        x = chx.arange(70000, dtype='float32', device='cuda:0')
    event = high.record()
    low.wait_event(event)
    y = x * 2
assert cuda.current_stream() == main
main.wait_stream(low)
z = y + 1
assert chx.to_numpy(z)[-1] == 2 * 69999 + 1
high.synchronize()
assert high.query() and event.query()
assert hash(low) == hash(low) and repr(low).startswith('<chainerx.cuda.Stream 0x')

# A stream is used again when its owner has gone.
before = high.ptr
del high, entered
assert cuda.Stream(priority=-5).ptr == before

# Streams of others.
assert cuda.Stream.from_ptr(0).ptr == 1 and cuda.Stream.from_ptr(0) == cuda.Stream.from_ptr(1)
other = cuda.Stream.from_ptr(low.ptr)
assert other == low
with cuda.Stream.from_ptr(2):
    assert float(chx.ones(3, 'float32', device='cuda:0').sum()) == 3

# Between devices.
remote = cuda.Stream('cuda:1')
remote.wait_stream(main)
assert remote.device.name == 'cuda:1'
cuda.synchronize()
cuda.synchronize('cuda:1')
print('done')
"""

EVENTS = """
import pytest
import chainerx as chx
from chainerx import cuda

start, end, plain = cuda.Event(), cuda.Event(), cuda.Event(timing=False)
assert start.query()
with pytest.raises(chx.ChainerxError, match='has not been recorded'):
    start.elapsed_time(end)
start.record()
x = chx.ones(70000, 'float32', device='cuda:0')
for _ in range(5):
    x = x + 1
end.record(cuda.current_stream())
plain.record()
end.synchronize()
assert end.query() and 0 < start.elapsed_time(end) < 10000
with pytest.raises(ValueError, match='without timing'):
    start.elapsed_time(plain)
with pytest.raises(chx.DeviceError, match='cuda:0 and cuda:1'):
    start.record(cuda.Stream('cuda:1'))
with pytest.raises(TypeError, match='expected a chainerx.cuda.Stream'):
    start.record(1)
with pytest.raises(chx.DeviceError, match='native:0 is no device of the backend cuda'):
    cuda.Stream('native:0')
print('done')
"""

ERRORS_AT_SYNCHRONIZATION = """
import pytest
import chainerx as chx
from chainerx import cuda

stream = cuda.Stream()
with stream:
    i = chx.array([0, 7], device='cuda:0')
    y = chx.ones(3, 'float32', device='cuda:0').take(i, axis=0)
with pytest.raises(IndexError, match='7'):
    stream.synchronize()
stream.synchronize()
print('done')
"""

MEMORY = """
import pytest
import chainerx as chx
from chainerx import cuda

assert cuda.get_memory_limit() is None
free, total = cuda.mem_info()
assert 0 < free <= total
x = chx.ones(10**6, 'float32', device='cuda:0')
stats = cuda.memory_stats()
assert stats['in_use'] >= 4 * 10**6 and stats['total'] == total and stats['limit'] is None
cuda.set_memory_limit(32 << 20)
assert cuda.memory_stats('cuda:0')['limit'] == 32 << 20
with pytest.raises(MemoryError):
    chx.ones(50 << 20, 'int8', device='cuda:0')
cuda.set_memory_limit(None)
y = chx.ones(50 << 20, 'int8', device='cuda:0')
del y
before = cuda.memory_stats()
assert before['cached'] >= 50 << 20
cuda.empty_cache()
after = cuda.memory_stats()
assert after['cached'] == 0 and after['free'] >= before['free'] + (50 << 20)
with pytest.raises(ValueError, match='set_memory_limit: nbytes is -1'):
    cuda.set_memory_limit(-1)
assert chx.to_numpy(x).sum() == 10**6
print('done')
"""

COPIES = """
import numpy as np
import pytest
import chainerx as chx
from chainerx import cuda

values = np.arange(100000, dtype='float32').reshape(100, 1000)
x = cuda.pinned(values)
assert x.device.name == 'native:0' and cuda.is_pinned(x) and not cuda.is_pinned(chx.array(values))
view = np.asarray(x)
assert view.__array_interface__['data'][0] == x.__array_interface__['data'][0] or np.shares_memory(
    view, chx.to_numpy(x, copy=False)
)
stream = cuda.Stream()
with stream:
    y = cuda.to_gpu(x)
    # The block goes back to the pool only when the copy is done.
    del x, view
    others = [cuda.pinned(np.zeros_like(values)) for _ in range(3)]
    z = cuda.to_host(y * 2)
    part = cuda.to_host(y.T[::2])
    assert cuda.is_pinned(z)
    stream.synchronize()
np.testing.assert_array_equal(np.asarray(z), values * 2)
np.testing.assert_array_equal(np.asarray(part), values.T[::2])

# Other memory is copied before the calls return.
y = cuda.to_gpu(values[:, ::2], 'cuda:1')
assert y.device.name == 'cuda:1'
out = chx.empty((100, 500), 'float32')
assert cuda.to_host(y, out) is out
np.testing.assert_array_equal(chx.to_numpy(out), values[:, ::2])

with pytest.raises(chx.DimensionError, match='copy_async: src has shape'):
    cuda.copy_async(y, chx.empty(3, 'float32'))
with pytest.raises(chx.DeviceError, match='expected cuda:0 and the host or another GPU'):
    cuda.copy_async(*(chx.ones(3, 'float32', device='cuda:0') for _ in (0, 1)))
with pytest.raises(chx.DimensionError, match='not contiguous'):
    cuda.copy_async(y.T, chx.empty((500, 100), 'float32'))
assert cuda.to_gpu(np.ones((0, 3))).shape == (0, 3)
cuda.empty_cache()
print('done')
"""

FORKED = """
import os
import sys
import chainerx as chx
from chainerx import cuda

x = chx.ones(1000, 'float32', device='cuda:0')
side, wrapped, event = cuda.Stream(), cuda.Stream.from_ptr(1), cuda.Event()
host = cuda.pinned([1.0, 2.0])
side.wait_stream(cuda.current_stream())
with side:
    y = x + 1
    z = cuda.to_gpu(host)
wrapped.wait_stream(side)
with wrapped:
    w = x + y
event.record()
cuda.synchronize()
pid = os.fork()
if pid == 0:
    # A child can do nothing but forget.
    del x, y, z, w, host, side, wrapped, event
    try:
        chx.ones(3, device='cuda:0')
    except chx.BackendError as error:
        assert 'forked' in str(error), error
        print('child')
        sys.exit(0)
    sys.exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert float(w.sum()) == 3000
print('done')
"""

PROGRAMS = {
    'streams': STREAMS,
    'events': EVENTS,
    'errors at synchronization': ERRORS_AT_SYNCHRONIZATION,
    'memory': MEMORY,
    'copies': COPIES,
}


def test_forked_children_forget_what_they_have(run):
    assert run(FORKED).split() == ['child', 'done']


@pytest.mark.parametrize('name', PROGRAMS)
def test_programs(run, name):
    assert run(PROGRAMS[name]) == 'done\n'
