"""Graphs are freed when they become unreachable, and not before."""

import gc
import threading
import weakref

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import FunctionNode, Variable
from engine.leak_counters import (
    A,
    Double,
    LeakCounters,
    step,
    warm_up,  # noqa: F401 - a fixture
)


def test_counts_of_live_objects(make):
    live = LeakCounters()
    live.__enter__()
    y = F.relu(Variable(make(A)))
    with pytest.raises(AssertionError):
        live.__exit__(None)
    del y


def test_steps(make):
    with LeakCounters():
        for debug in (False, True):
            for _ in range(3):
                step(make, debug)


def test_no_collector_is_needed(make):
    # Reference counts alone free the graph of one step.
    gc.collect()
    gc.disable()
    try:
        chainerx._core._set_leak_tracking(True)
        before = LeakCounters.counts()
        x = Variable(make(A))
        (h,) = Double().apply((F.relu(x),))
        y = F.sum(h)
        y.backward()
        f = weakref.ref(h.creator)
        del x, h, y
        assert f() is None
        assert LeakCounters.counts() == before
    finally:
        chainerx._core._set_leak_tracking(False)
        gc.enable()


class Fails(FunctionNode):
    def __init__(self, where):
        self.where = where

    def check_type_forward(self, in_types):
        if self.where == 'check':
            raise KeyError('mine')

    def forward(self, xs):
        self.retain_inputs((0,))
        if self.where == 'forward':
            raise KeyError('mine')
        if self.where == 'list':
            return list(xs)
        return (xs[0] * 2,)

    def backward(self, indexes, gys):
        if self.where == 'backward':
            raise KeyError('mine')
        return {'none': None, 'two': (gys[0],) * 2, 'shape': (F.sum(gys[0]),)}[self.where]


@pytest.mark.parametrize('where', ['check', 'forward', 'list', 'backward', 'none', 'two', 'shape'])
def test_errors_leak_nothing(make, where):
    with LeakCounters():
        for _ in range(3):
            x = Variable(make(A))
            h = x * 2
            with pytest.raises((KeyError, TypeError, ValueError)):
                F.sum(Fails(where).apply((h,))[0] * x).backward()
            F.sum(h).backward()
            np.testing.assert_array_equal(chainer.backend.CpuDevice().send(x.grad), 2)
            del x, h


def test_errors_of_hooks_leak_nothing(make):
    class Raises(chainer.FunctionHook):
        def __init__(self, moment):
            setattr(self, moment, self.run)

        def run(self, *args):
            raise KeyError('hook')

    with LeakCounters():
        for moment in ('forward_preprocess', 'forward_postprocess', 'backward_preprocess'):
            for _ in range(2):
                x = Variable(make(A))
                with pytest.raises(KeyError, match='hook'), Raises(moment):
                    F.sum(Double().apply((F.relu(x),))[0]).backward()
                del x


# ---- large graphs ----


@pytest.mark.slow
def test_a_million_nodes():
    x = Variable(np.ones(1, 'f'))
    y = x
    for _ in range(1_000_000):
        y = y + x
    y.backward()
    assert x.grad[0] == 1_000_001
    assert y.rank == 1_000_000
    del y


def test_a_long_chain_of_a_users_functions():
    class Next(FunctionNode):
        def forward(self, xs):
            return (xs[0] + 1,)

        def backward(self, indexes, gys):
            return gys

    with LeakCounters():
        x = y = Variable(np.ones(1, 'f'))
        n = 20_000
        for _ in range(n):
            (y,) = Next().apply((y,))
        y.backward()
        assert x.grad[0] == 1
        assert y.rank == n
        del y, x


def test_cycle_through_a_long_chain(make):
    x = Variable(make(A))
    (y,) = Double().apply((x,))
    f = y.creator
    for _ in range(2000):
        (y,) = Double().apply((y,))
    f.y = y
    ref = weakref.ref(f)
    del f, y
    gc.collect(0)
    gc.collect()
    assert ref() is None


def test_unchain_backward_of_a_long_chain():
    with LeakCounters():
        x = y = Variable(np.ones(1, 'f'))
        for _ in range(50_000):
            y = y * 1
        y.unchain_backward()
        assert y.creator is None
        del x, y


def test_graphs_of_threads(make):
    def work():
        for _ in range(20):
            step(make)

    work()
    with LeakCounters():
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        del threads, t
