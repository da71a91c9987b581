"""Thread-local state, use from several threads at once, and fork."""

import os
import signal
import sys
import threading
import time

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy


def in_threads(count, function):
    """Runs function(n) in that many threads at once; raises what one of them raised."""
    errors, barrier = [], threading.Barrier(count)

    def body(n):
        try:
            barrier.wait()
            function(n)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), 'a thread hangs'
    if errors:
        raise errors[0]


def test_default_device_is_thread_local():
    def check(n):
        assert chx.get_default_device().name == 'native:0'
        with chx.using_device(f'native:{n}'):
            for _ in range(50):
                assert chx.ones(3).device.name == f'native:{n}'
                time.sleep(0)

    with chx.using_device('native:3'):
        in_threads(4, check)
        assert chx.get_default_device().name == 'native:3'


def test_backprop_mode_is_thread_local():
    x = chx.ones(3).require_grad()

    def check(n):
        assert chx.is_backprop_required()
        for _ in range(50):
            if n % 2:
                with chx.no_backprop_mode():
                    assert not (x * 2).is_backprop_required()
            assert (x * 2).is_backprop_required()

    with chx.no_backprop_mode():
        in_threads(4, check)
        assert not chx.is_backprop_required()


def test_default_context_is_thread_local():
    def check(_):
        assert chx.get_default_context() is chx.get_global_default_context()

    with chx.context_scope(chx.Context()):
        in_threads(2, check)


def test_concurrent_graphs():
    """Each thread has its own graph over a shared weight; the gradients of all are added."""
    w = chx.full((50,), 2.0, 'float64').require_grad()

    def train(n):
        for _ in range(40):
            x = chx.full((50,), float(n + 1), 'float64').require_grad()
            y = (x * w).sum()
            gx, gw = chx.grad([y], [x, w])
            np.testing.assert_array_equal(to_numpy(gx), np.full(50, 2.0))
            np.testing.assert_array_equal(to_numpy(gw), np.full(50, n + 1.0))
            (x * w).backward()

    in_threads(4, train)
    np.testing.assert_array_equal(to_numpy(w.grad), np.full(50, 40.0 * (1 + 2 + 3 + 4)))


def test_concurrent_backward_of_one_graph():
    for _ in range(20):
        x = chx.ones(10, 'float64').require_grad()
        y = x * x
        ys = [y * float(n) for n in range(4)]
        in_threads(4, lambda n, ys=ys: ys[n].backward(enable_double_backprop=True))
        np.testing.assert_array_equal(to_numpy(x.grad), np.full(10, 2.0 * 6))


def test_concurrent_kernels_large_enough_for_the_pool():
    chx.set_num_threads(2)
    rng = np.random.default_rng(0)
    n = rng.standard_normal((300, 300)).astype('float32')
    x = chx.array(n)
    expected = [to_numpy(y).tobytes() for y in (chx.exp(x), x.sum(axis=0), x @ x)]

    def check(_):
        for _ in range(10):
            actual = [to_numpy(y).tobytes() for y in (chx.exp(x), x.sum(axis=0), x @ x)]
            assert actual == expected

    in_threads(4, check)


def test_arrays_made_in_one_thread_die_in_another():
    kept = [None] * 4

    def make(n):
        x = chx.ones((100,)).require_grad()
        for _ in range(500):
            x = x + 1.0
        kept[n] = x

    in_threads(4, make)
    in_threads(4, lambda n: kept.__setitem__((n + 1) % 4, None))
    assert kept == [None] * 4


def test_backprop_ids_from_many_threads():
    def check(n):
        for _ in range(30):
            with chx.backprop_scope(f'scope{n}') as one:
                x = chx.full((3,), float(n)).require_grad(one)
                (x * x).backward(one)
                assert float(x.get_grad(one)[0]) == 2.0 * n

    in_threads(4, check)


def test_random_numbers_from_many_threads():
    chx.random.seed(1)
    seen = []
    in_threads(4, lambda n: seen.append(to_numpy(chx.random.normal(size=100)).tobytes()))
    assert len(set(seen)) == 4


def test_the_lock_is_free_during_long_kernels():
    """Another Python thread runs while a large product is computed."""
    x = chx.ones((1500, 1500), 'float32')
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    for _ in range(3):
        x @ x
    end = time.perf_counter()
    done.set()
    thread.join()
    assert sum(start < t < end for t in ticks) >= 3


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='no fork')
@pytest.mark.parametrize('threads', [1, 2, 4])
def test_fork(threads):
    """A forked child computes with any number of threads, and does not hang."""
    chx.set_num_threads(threads)
    x = chx.array(np.random.default_rng(0).standard_normal((400, 400)), 'float32')
    expected = float((x @ x).sum()), float(chx.exp(x).sum())  # the pool is running now
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(60)
            g = x.copy().require_grad()
            (g @ g).backward()
            right = (float((x @ x).sum()), float(chx.exp(x).sum())) == expected
            code = 0 if right and g.grad is not None else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert float((x @ x).sum()) == expected[0]
