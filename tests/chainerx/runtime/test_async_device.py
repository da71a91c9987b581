"""Devices whose kernels run later than they are called, on memory that the host can't touch.

`pytest tests/chainerx/test_ops.py --device async_toy:0` runs all operations there; here is what is
particular to them.
"""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import chainerx as chx
import numpy as np
import pytest


@pytest.fixture
def device(async_toy):
    with chx.using_device(f'{async_toy}:0'):
        yield chx.get_default_device()
        chx.get_default_device().synchronize()


def out_of_range(device, index=7):
    return chx.arange(3, device=device).take(chx.array([index], device=device), axis=0)


TEXT = 'take: index 7 is out of range for an axis of length 3: indices[0]'


def test_the_host_cannot_touch_the_memory(build_backend):
    """Otherwise the tests in this file would prove nothing."""
    library = build_backend('async_toy', 'async_backend.cc')
    code = (
        'import ctypes, chainerx as chx; x = chx.ones(3, device="async_toy:0"); '
        'print(x.sum(), flush=True); ctypes.string_at(x.data_ptr, 1)'
    )
    environment = {**os.environ, 'CHAINERX_PATH': str(library.parent.parent)}
    done = subprocess.run(
        [sys.executable, '-c', code], env=environment, capture_output=True, text=True
    )
    assert done.stdout.startswith('array(3., ')
    assert done.returncode == -signal.SIGSEGV or 'AddressSanitizer: SEGV' in done.stderr


@pytest.mark.parametrize(
    'wait',
    [
        lambda x: x.device.synchronize(),
        chx.to_numpy,
        str,
        lambda x: float(x[0]),
        lambda x: x.to_device('native:0'),
        lambda x: chx.nonzero(x),
        pickle.dumps,
    ],
    ids=['synchronize', 'to_numpy', 'str', 'float', 'to_device', 'nonzero', 'pickle'],
)
def test_a_bad_index_is_an_error_of_whoever_waits(device, wait):
    y = out_of_range(device)
    with pytest.raises(IndexError) as error:
        wait(y)
    assert str(error.value) == TEXT
    device.synchronize()  # the error is reported once
    np.testing.assert_array_equal(chx.to_numpy(chx.arange(3) + 1), [1, 2, 3])


@pytest.mark.parametrize(
    ('run', 'text'),
    [
        (lambda x, i: x[i], 'getitem: index 7 is out of range for an axis of length 4'),
        (lambda x, i: x[:, i, i], 'getitem: index 7 is out of range for an axis of length 3'),
        (lambda x, i: x.__setitem__(i, 1), 'setitem: index 7 is out of range'),
        (
            lambda x, i: chx.softmax_cross_entropy(x[0], chx.array([0, 3, 1])),
            'softmax_cross_entropy: x2[1] is 3, but x1 has 3 classes; expected 0 to 2, or -1 to '
            'ignore the row',
        ),
        (lambda x, i: chx.hinge(x[0], chx.array([2, 0, -1])), 'hinge: x2[2] is -1, but x1 has 3'),
    ],
    ids=['getitem', 'getitem two', 'setitem', 'softmax_cross_entropy', 'hinge'],
)
def test_texts_are_those_of_native(device, run, text):
    def message(where):
        def call():
            run(x, chx.array([1, 7]))
            where.synchronize()

        with chx.using_device(where):
            x = chx.arange(36, dtype='float32').reshape(4, 3, 3)
            with pytest.raises(IndexError) as error:
                call()
        return str(error.value)

    assert message(device) == message(chx.get_device('native:0'))
    assert message(device).startswith(text)


def test_an_error_goes_to_the_thread_that_made_it(device):
    made, waited = threading.Event(), threading.Event()
    caught = []

    def work():
        with chx.using_device(device):
            out_of_range(device)
            made.set()
            assert waited.wait(60)
            try:
                device.synchronize()
            except IndexError as error:
                caught.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    assert made.wait(60)
    device.synchronize()  # not our error
    assert float(chx.ones(3).sum()) == 3
    waited.set()
    thread.join()
    assert caught == [TEXT]
    device.synchronize()


def test_an_error_of_a_thread_that_has_ended_is_not_lost(device):
    thread = threading.Thread(target=out_of_range, args=(device,))
    thread.start()
    thread.join()

    def wait():
        for _ in range(3000):  # a thread's last code runs after join
            device.synchronize()
            time.sleep(0.01)

    with pytest.raises(IndexError, match='index 7'):
        wait()


def test_the_first_error_counts(device):
    out_of_range(device)
    out_of_range(device, 8)
    with pytest.raises(IndexError, match='index 7'):
        device.synchronize()
    device.synchronize()


def test_arrays_may_go_before_kernels_have_run(device):
    x = chx.arange(1000, dtype='float64')
    for _ in range(300):
        x = (x * 2 + 1 - x.sum() * 0 - 1) / 2  # makes temporaries
    gc.collect()
    np.testing.assert_array_equal(chx.to_numpy(x), np.arange(1000))


@pytest.mark.parametrize('keep', ['y = x', 'c = chx.Context(); c.get_device("async_toy:1")'])
def test_exit_while_kernels_wait(build_backend, keep):
    library = build_backend('async_toy', 'async_backend.cc')
    code = (
        'import chainerx as chx; x = chx.ones((300, 300), device="async_toy:0")\n'
        'for _ in range(200): x = x @ x * 1e-3\n'
    )
    environment = {**os.environ, 'CHAINERX_PATH': str(library.parent.parent)}
    done = subprocess.run(
        [sys.executable, '-c', code + keep], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, '')


def test_memory_runs_out_with_an_error(device):
    with pytest.raises(MemoryError, match='async_toy'):
        chx.empty(1 << 40, dtype='int8')
    held = []

    def fill():
        for _ in range(100):
            held.append(chx.empty(1 << 28, dtype='int8'))

    with pytest.raises(MemoryError, match='are in use'):
        fill()
    assert len(held) > 2
    held.clear()
    assert float(chx.ones(1 << 20).sum()) == 1 << 20


def test_values_come_and_go(device):
    a = np.arange(6.0).reshape(2, 3)
    x = chx.array(a)
    np.testing.assert_array_equal(np.asarray(chx.to_numpy(x.T)), a.T)
    assert x[1, 2].item() == 5
    assert x.tolist() == a.tolist()
    assert repr(x) == repr(chx.array(a, device='native:0')).replace('native:0', device.name)
    x[0] = 7
    x[1, 1:] = chx.array([8.0, 9.0])
    np.testing.assert_array_equal(chx.to_numpy(x), [[7, 7, 7], [3, 8, 9]])
    y = pickle.loads(pickle.dumps(x))
    np.testing.assert_array_equal(chx.to_numpy(y), chx.to_numpy(x))
    with pytest.raises(BufferError, match='host cannot read'):
        memoryview(x)


def test_threads_share_a_device(device):
    results = [None] * 4

    def work(n):
        with chx.using_device(device):
            x = chx.full(100, n, dtype='float64').require_grad()
            for _ in range(20):
                x.cleargrad()
                (x * x).sum().backward()
            results[n] = chx.to_numpy(x.grad)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for n, g in enumerate(results):
        np.testing.assert_array_equal(g, np.full(100, 2.0 * n))


def test_fork_beside_a_thread_that_waits_for_the_device(build_backend):
    """It waits inside of the generator's lock, which fork acquires."""
    library = build_backend('async_toy', 'async_backend.cc')
    code = """
import os, threading
import chainerx as chx
chx.ones(3, device='async_toy:0')
stop = False

def move():
    while not stop:
        for device in ('async_toy:0', 'native:0'):
            with chx.using_device(device):
                chx.random.normal(size=3)

threads = [threading.Thread(target=move) for _ in range(2)]
for t in threads:
    t.start()
for _ in range(100):
    child = os.fork()
    if child == 0:
        os._exit(0)  # without the threads of the device
    assert os.waitpid(child, 0)[1] == 0
stop = True
for t in threads:
    t.join()
"""
    environment = {**os.environ, 'CHAINERX_PATH': str(library.parent.parent)}
    done = subprocess.run(
        [sys.executable, '-c', code], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_arrays_of_the_host_are_not_copied_unasked(device):
    """Where the host can't read the memory, errors name the device to copy from or to."""
    x = chx.arange(3)
    with pytest.raises(ValueError, match='the memory of async_toy:0; leave copy=False away'):
        np.asarray(x, copy=False)
    assert np.asarray(x).tolist() == np.asarray(x, copy=True).tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match=r"on the host; .*array\(x, device='async_toy:0'\)"):
        x[:2] = np.ones(2)
