"""No leaks: of bodies, nodes and buffers, and of Python objects; deep graphs."""

import gc
import os
import resource
import sys
import weakref

import chainerx as chx
import numpy as np
import pytest


@pytest.fixture
def live_counts():
    """Counts of live array bodies, graph nodes and buffers since the start of the test."""
    gc.collect()
    chx._core._set_leak_tracking(True)

    def counts():
        gc.collect()
        return tuple(chx._core._live_counts())

    yield counts
    chx._core._set_leak_tracking(False)


def loss_of(params, x):
    for w in params[:-1]:
        x = chx.relu(x @ w)
    return chx.softmax_cross_entropy(x @ params[-1], chx.array([0, 1, 2, 1], 'int64')).sum()


def make_params():
    rng = np.random.default_rng(0)
    return [
        chx.array(rng.standard_normal((8, 8)) * 0.1, 'float32').require_grad() for _ in range(3)
    ]


def step(params, x):
    loss = loss_of(params, x)
    loss.backward()
    for w in params:
        data = w.as_grad_stopped()
        data -= w.grad * 0.1
        w.cleargrad()
    return float(loss)


def test_training_steps_leave_nothing(live_counts):
    params, x = make_params(), chx.ones((4, 8), 'float32')
    first = step(params, x)
    before = live_counts()
    for _ in range(200):
        last = step(params, x)
    assert live_counts() == before
    assert last < first


def test_everything_dies(live_counts):
    before = live_counts()
    params = make_params()
    step(params, chx.ones((4, 8), 'float32'))
    (gx,) = chx.grad(
        [loss_of(params, chx.ones((4, 8), 'float32'))], params[:1], enable_double_backprop=True
    )
    assert live_counts() != before
    del params, gx
    assert live_counts() == before


@pytest.mark.parametrize(
    'make',
    [
        lambda x: x * x + x,
        lambda x: chx.exp(x) / (x + 3.0),
        lambda x: chx.softmax(x),
        lambda x: chx.tanh(x).sum(),
        lambda x: chx.concatenate([x, x.T.reshape(2, 3)]),
        lambda x: chx.split(x, 3, axis=1)[1],
        lambda x: x[::-1, 1:].reshape(4).max(),
        lambda x: x @ x.T,
        lambda x: chx.where(x > 0, x, 0),
    ],
)
def test_graphs_die_with_or_without_backward(make, live_counts):
    before = live_counts()
    for mode in range(4):
        x = chx.ones((2, 3), 'float32').require_grad()
        y = make(x)
        if mode == 1:
            y.backward()
        elif mode == 2:
            y.backward(enable_double_backprop=True)
            if x.grad.is_backprop_required():
                x.grad.backward()
        elif mode == 3:
            chx.grad([y], [x], retain_grad=True)
        del x, y
        assert live_counts() == before, f'mode {mode}'


def test_errors_leave_nothing(live_counts):
    before = live_counts()
    for _ in range(10):
        x = chx.ones((2, 3)).require_grad()
        for bad in (
            lambda x=x: x + chx.ones((4,)),
            lambda x=x: x @ x,
            lambda x=x: chx.concatenate([x, chx.ones((9,))]),
            lambda x=x: x.reshape(5),
            lambda x=x: x[7],
            lambda x=x: chx.sum(x, axis=9),
            lambda x=x: chx.zeros((2**62,)),
        ):
            with pytest.raises((chx.ChainerxError, IndexError, MemoryError)):
                bad()
        del x, bad
    assert live_counts() == before


def test_gradient_function_does_not_keep_its_output(live_counts):
    """y = exp(x) saves y, which must not make a cycle."""
    gc.disable()
    try:
        x = chx.ones(3).require_grad()
        y = chx.exp(x)
        ref = weakref.ref(y)
        del y
        assert ref() is None
    finally:
        gc.enable()


def test_deep_graph():
    """10**6 nodes in a chain: forward, backward and destruction without recursion."""
    depth = 1_000_000
    x = chx.ones((1,), 'float64').require_grad()
    y = x
    for _ in range(depth):
        y = -y
    y.backward()
    assert float(x.grad[0]) == 1.0
    y = x
    for _ in range(depth):
        y = -y
    del y  # never used


@pytest.mark.skipif(
    'libasan' in os.environ.get('LD_PRELOAD', ''),
    reason='AddressSanitizer keeps freed memory in quarantine, so that the process grows',
)
def test_memory_of_a_long_run_is_flat():
    params, x = make_params(), chx.ones((4, 8), 'float32')

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(300):
        step(params, x)
    before = peak()
    for _ in range(3000):
        step(params, x)
    assert peak() - before < 2000  # KiB


def test_reference_counts_of_arguments():
    x = chx.ones((2, 2))
    n = np.ones((2, 2))
    key, shape = (0, slice(None)), (4,)
    objects = (x, n, key, shape, x.dtype, x.device)
    gc.collect()  # garbage of other tests refers to the dtype and the device too
    before = [sys.getrefcount(o) for o in objects]
    for _ in range(100):
        x + x
        x + 1.0
        x[key]
        x.reshape(shape)
        chx.array(n)
        chx.sum(x, axis=0, keepdims=True)
        with pytest.raises(chx.ChainerxError):
            x.reshape((3,))
        with pytest.raises(TypeError):
            x + n
    gc.collect()
    assert [sys.getrefcount(o) for o in objects] == before


def test_what_a_name_holds_is_not_written_in_place():
    """Python 3.14 lends a local variable to a call, which then counts no reference of its own."""
    x = chx.linspace(-1, 1, 1000).require_grad()
    seen = []

    def keep(gradient):
        seen.append((gradient, gradient.tolist()))

    gy = chx.full(1000, 3, 'float32')
    for _ in range(3):
        y = x * 2
        z = chx.relu(y)
        w = z + y
        y.register_hook(keep)
        z.register_hook(keep)
        seen += [(array, array.tolist()) for array in (y, z, w, gy)]
        chx.relu(y)
        chx.concatenate([y, z])
        (y + 1) * z
        (gx,) = chx.grad([w], [x], grad_outputs=[gy])
        seen.append((gx, gx.tolist()))
        chx.relu(gx) + gx
        w = chx.relu(x * 2) * x
        w.grad = gy
        w.backward()
        seen.append((x.grad, x.grad.tolist()))
        x.cleargrad()
        for array, values in seen:
            assert array.tolist() == values
    assert len(seen) == 3 * 8


def test_shared_numpy_memory_is_released():
    n = np.ones(1000)
    before = sys.getrefcount(n)
    x = chx.array(n, copy=False)
    assert sys.getrefcount(n) > before
    y = x[::2]
    del x
    assert sys.getrefcount(n) > before
    del y
    chx.ones(1)  # a queued release happens at the latest with the next call
    assert sys.getrefcount(n) == before


def test_memory_shared_with_numpy_outlives_the_array():
    x = chx.full((1000,), 3.0)
    view = chx.to_numpy(x, copy=False)
    del x
    gc.collect()
    chx.zeros((1000,))
    assert (view == 3.0).all()


def test_cycles_through_python_are_collected():
    class Holder:
        pass

    holder = Holder()
    holder.x = chx.ones(2)
    holder.self = holder
    ref = weakref.ref(holder.x)
    del holder
    gc.collect()
    assert ref() is None


@pytest.fixture
def cache():
    """An empty cache of host memory, with a limit that the tests may change."""
    if 'libasan' in os.environ.get('LD_PRELOAD', ''):
        pytest.skip('nothing is cached, so that the sanitizer sees every free')
    before = chx.get_memory_info()['limit']
    chx.free_memory_cache()
    yield
    chx.set_memory_cache_limit(before)


def test_memory_info(cache):
    """Large blocks are in use, then kept for reuse, then given back."""
    assert set(chx.get_memory_info()) == {'in_use', 'cached', 'limit'}
    before = chx.get_memory_info()
    assert before['cached'] == 0
    assert before['limit'] >= 1 << 20
    n = 4 << 20
    x = chx.empty(n, 'uint8')
    used = chx.get_memory_info()['in_use'] - before['in_use']
    assert n <= used <= 1.25 * n
    assert chx.get_memory_info()['cached'] == 0
    address = x.data_ptr
    del x
    assert chx.get_memory_info() == {**before, 'cached': used}
    x = chx.empty(n, 'uint8')
    assert x.data_ptr == address
    assert chx.get_memory_info()['cached'] == 0
    del x
    chx.free_memory_cache()
    assert chx.get_memory_info() == before


def test_memory_cache_limit(cache):
    n = 1 << 20
    before = chx.get_memory_info()['in_use']
    chx.set_memory_cache_limit(3 * n)
    assert chx.get_memory_info()['limit'] == 3 * n
    blocks = [chx.empty(n, 'uint8') for _ in range(6)]
    del blocks
    assert chx.get_memory_info()['in_use'] == before
    assert n <= chx.get_memory_info()['cached'] <= 3 * n
    chx.set_memory_cache_limit(n // 2)
    assert chx.get_memory_info()['cached'] <= n // 2
    with pytest.raises(ValueError, match='nbytes is -1,'):
        chx.set_memory_cache_limit(-1)
    assert chx.get_memory_info()['limit'] == n // 2
    chx.set_memory_cache_limit(0)
    x = chx.empty(n, 'uint8')
    del x
    assert chx.get_memory_info()['cached'] == 0
