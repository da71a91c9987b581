"""Random numbers of functions: their distribution, their seed, training and test."""

import os
import subprocess
import sys
import threading

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable
from chainerx._core import engine

on_each_kind = pytest.mark.parametrize('make', [np.array, chainerx.array], ids=['numpy', 'native'])


def as_numpy(x):
    return chainerx.to_numpy(x) if isinstance(x, chainerx.ndarray) else x


def ones(make, *shape, dtype='float32'):
    return Variable(make(np.ones(shape, dtype)))


def parts(make):
    """Functions that map a variable to a variable and its random numbers."""
    zeros = ones(make, 50, 40) * 0
    return {
        'dropout': lambda x: F.dropout(x, 0.25, return_mask=True),
        'rrelu': lambda x: F.rrelu(x, return_r=True),
        'gaussian': lambda x: F.gaussian(x, zeros, return_eps=True),
    }


@on_each_kind
@pytest.mark.parametrize('name', ['dropout', 'rrelu', 'gaussian'])
def test_the_seed_of_numpy_is_the_seed(make, name):
    function = parts(make)[name]
    x = ones(make, 50, 40)
    results = []
    for seed in (1, 1, 2):
        np.random.seed(seed)
        y, numbers = function(x)
        _, next_numbers = function(x)
        assert type(numbers) is type(x.array)
        assert (as_numpy(numbers) != as_numpy(next_numbers)).any()
        results.append((as_numpy(y.array), as_numpy(numbers)))
    (y0, n0), (y1, n1), (_, n2) = results
    np.testing.assert_array_equal(y0, y1)
    np.testing.assert_array_equal(n0, n1)
    assert (n0 != n2).any()


def test_keys_are_those_that_numpy_would_draw():
    np.random.seed(3)
    expected = [int(np.random.random_sample() * 2**53) for _ in range(5)]
    after = np.random.random_sample()
    np.random.seed(3)
    assert [engine.draw_key() for _ in range(5)] == expected
    assert np.random.random_sample() == after
    state = np.random.get_state()
    keys = [engine.draw_key() for _ in range(3)]
    np.random.set_state(state)
    assert [engine.draw_key() for _ in range(3)] == keys


def test_keys_of_another_generator_of_numpy():
    old = np.random.get_bit_generator()
    try:
        np.random.set_bit_generator(np.random.PCG64(5))
        expected = [int(np.random.random_sample() * 2**53) for _ in range(3)]
        np.random.set_bit_generator(np.random.PCG64(5))
        assert [engine.draw_key() for _ in range(3)] == expected
    finally:
        np.random.set_bit_generator(old)


OUTLIVED = """
import numpy as np
from chainerx._core import engine
old = np.random.get_bit_generator()
np.random.set_bit_generator(np.random.PCG64(5))
engine.draw_key()
np.random.set_bit_generator(old)  # the engine alone has the other one now
"""


def test_a_generator_of_the_engine_alone_at_exit():
    """A generator still in use at exit is left alone, as Python has already ended."""
    for allocator in ('debug', 'malloc'):
        done = subprocess.run(
            [sys.executable, '-c', OUTLIVED],
            env={**os.environ, 'PYTHONMALLOC': allocator},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr


def test_keys_in_threads():
    np.random.seed(0)
    expected = {engine.draw_key() for _ in range(2000)}
    np.random.seed(0)
    keys = []
    threads = [
        threading.Thread(target=lambda: keys.extend(engine.draw_key() for _ in range(500)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(keys) == expected


def test_chainerx_random_numbers_are_left_alone():
    state = chainerx.random.get_state()
    F.dropout(ones(np.array, 10))
    assert chainerx.random.get_state() == state


@on_each_kind
@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize('ratio', [0.0, 0.25, 0.9])
def test_dropout(make, dtype, ratio):
    np.random.seed(0)
    x = ones(make, 400, 100, dtype=dtype)
    y = F.dropout(x, ratio)
    assert y.dtype == dtype
    mask = as_numpy(y.creator.mask)
    np.testing.assert_array_equal(as_numpy(y.array), mask)
    scale = np.dtype(dtype).type(1 / (1 - ratio))
    assert set(np.unique(mask)) <= {0, scale}
    assert abs((mask == 0).mean() - ratio) < 0.01
    y.grad = make(np.full(y.shape, 2, dtype))
    y.backward()
    np.testing.assert_array_equal(as_numpy(x.grad), 2 * mask)


def test_dropout_outside_of_training_is_the_variable_itself():
    x = ones(np.array, 3)
    with chainer.using_config('train', False):
        assert F.dropout(x, 1.0) is x
        assert F.dropout(x, return_mask=True) == (x, None)
        assert isinstance(F.dropout(x.array), Variable)


@on_each_kind
def test_dropout_returns_its_mask_without_a_graph(make):
    with chainer.using_config('enable_backprop', False):
        y, mask = F.dropout(ones(make, 30), return_mask=True)
    assert y.creator is None
    np.testing.assert_array_equal(as_numpy(y.array), as_numpy(mask))


@on_each_kind
@pytest.mark.parametrize('ratio', [0.0, 0.25, 1.0])
def test_zoneout(make, ratio):
    np.random.seed(0)
    h, x = ones(make, 400, 100), ones(make, 400, 100) * 2
    y = F.zoneout(h, x, ratio)
    old = as_numpy(y.creator.flag_h)
    np.testing.assert_array_equal(as_numpy(y.array), np.where(old, 1, 2))
    np.testing.assert_array_equal(as_numpy(y.creator.flag_x), ~old)
    assert abs(old.mean() - ratio) < 0.01
    with chainer.using_config('train', False):
        assert F.zoneout(h, x, ratio) is x  # surprising, but v7's models rely on it


@on_each_kind
@pytest.mark.parametrize('batchwise', [False, True])
def test_simplified_dropconnect(make, batchwise):
    np.random.seed(0)
    x, w = ones(make, 30, 40), ones(make, 50, 40)
    y = F.simplified_dropconnect(x, w, ratio=0.25, use_batchwise_mask=batchwise)
    mask = as_numpy(y.creator.mask)
    assert mask.dtype == bool
    assert mask.shape == ((30, 50, 40) if batchwise else (50, 40))
    assert abs(mask.mean() - 0.75) < 0.03
    expected = np.broadcast_to(mask.sum(-1) / 0.75, (30, 50))
    np.testing.assert_allclose(as_numpy(y.array), expected, rtol=1e-5)
    y.grad = make(np.ones((30, 50), 'float32'))
    y.backward()  # with the same mask, though it is recomputed
    np.testing.assert_allclose(
        as_numpy(w.grad), np.broadcast_to(mask / 0.75, (30, 50, 40)).sum(0), rtol=1e-5
    )
    y = F.simplified_dropconnect(x, w, train=False, use_batchwise_mask=batchwise)
    np.testing.assert_allclose(as_numpy(y.array), 40, rtol=1e-6)


@on_each_kind
@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize('of_weights', ['float16', 'float32', 'float64'])
def test_simplified_dropconnect_takes_weights_of_any_float_dtype(make, dtype, of_weights):
    """Weights of any float dtype are taken, as in `linear`."""
    x = Variable(make(np.arange(12).reshape(3, 2, 2).astype(dtype)))
    w = Variable(make(np.arange(8).reshape(2, 4).astype(of_weights)))
    b = Variable(make(np.array([1, -1], dtype)))
    expected = F.linear(x, w, b)
    assert expected.dtype == dtype
    for batchwise in (False, True):
        mask = make(np.ones((3, 2, 4) if batchwise else (2, 4), bool))
        y = F.simplified_dropconnect(x, w, b, 0, mask=mask, use_batchwise_mask=batchwise)
        assert y.dtype == dtype
        np.testing.assert_array_equal(as_numpy(y.array), as_numpy(expected.array))
        found = chainer.grad([F.sum(y * y)], [x, w, b])
        for g, e in zip(found, chainer.grad([F.sum(expected**2)], [x, w, b]), strict=True):
            assert g.dtype == e.dtype
            np.testing.assert_allclose(as_numpy(g.array), as_numpy(e.array), rtol=1e-2)


@on_each_kind
def test_rrelu(make):
    np.random.seed(0)
    x = Variable(make(np.full((100, 100), -1, 'float32')))
    slopes = -as_numpy(F.rrelu(x, 0.2, 0.6).array)
    assert 0.2 <= slopes.min() < 0.21
    assert 0.59 < slopes.max() <= 0.6
    assert abs(slopes.mean() - 0.4) < 0.01
    with chainer.using_config('train', False):
        for r in (None, make(np.full(x.shape, 0.1, 'float32'))):
            np.testing.assert_allclose(as_numpy(F.rrelu(x, 0.2, 0.6, r=r).array), -0.4, rtol=1e-6)


@on_each_kind
def test_gaussian(make):
    np.random.seed(0)
    mean = ones(make, 200, 200)
    y = as_numpy(F.gaussian(mean, mean * np.float32(np.log(4.0)).item()).array)
    assert abs(y.mean() - 1) < 0.05
    assert abs(y.std() - 2) < 0.05


@on_each_kind
def test_gumbel_softmax(make):
    np.random.seed(0)
    p = np.array([0.1, 0.2, 0.7], 'float32')
    y = F.gumbel_softmax(Variable(make(np.log(np.tile(p, (20000, 1))))), tau=0.01)
    values = as_numpy(y.array)
    np.testing.assert_allclose(values.sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(np.bincount(values.argmax(1)) / 20000, p, atol=0.02)


@pytest.mark.parametrize('name', ['dropout', 'simplified_dropconnect', 'gumbel_softmax'])
@pytest.mark.parametrize('number', [np.float16(0.1), np.float32(0.1)])
def test_numpy_numbers_are_exact(name, number):
    """Computations with NumPy scalars as parameters keep full precision."""
    x = np.linspace(-2, 2, 30).reshape(5, 6)
    function = {
        'dropout': lambda n: F.dropout(x, n),
        'simplified_dropconnect': lambda n: F.simplified_dropconnect(x, x, None, n),
        'gumbel_softmax': lambda n: F.gumbel_softmax(x, n),
    }[name]
    values = []
    for n in (number, float(number)):
        np.random.seed(0)
        values.append(function(n).array)
    np.testing.assert_array_equal(*values)


@on_each_kind
def test_attention_drops_weights_in_training_only(make):
    q = Variable(make(np.linspace(-1, 1, 60, dtype='f').reshape(20, 3)))
    values = Variable(make(np.eye(20, dtype='f')))
    np.random.seed(3)
    y, other = (F.scaled_dot_product_attention(q, q, values, dropout_p=0.5) for _ in range(2))
    np.random.seed(3)
    again = F.scaled_dot_product_attention(q, q, values, dropout_p=0.5)
    np.testing.assert_array_equal(as_numpy(y.array), as_numpy(again.array))
    is_dropped = as_numpy(y.array) == 0
    assert 100 < is_dropped.sum() < 300
    assert (is_dropped != (as_numpy(other.array) == 0)).any()
    # Backward draws the same numbers again.
    (gv,) = chainer.grad([y], [values], grad_outputs=[Variable(make(np.eye(20, dtype='f')))])
    np.testing.assert_array_equal(as_numpy(gv.array).T == 0, is_dropped)
    with chainer.using_config('train', False):
        y = F.scaled_dot_product_attention(q, q, values, dropout_p=0.5)
        assert (as_numpy(y.array) > 0).all()


@on_each_kind
def test_random_numbers_can_be_given_back(make):
    """The random numbers that a function returned reproduce its result, also on raw arrays."""
    x = make(np.linspace(-2, 2, 12, dtype='f').reshape(3, 4))
    w = make(np.linspace(-1, 1, 8, dtype='f').reshape(2, 4))
    ways = {
        'mask': lambda **kw: F.dropout(x, 0.25, return_mask=True, **kw),
        'r': lambda **kw: F.rrelu(x, return_r=True, **kw),
        'eps': lambda **kw: F.gaussian(x, x, return_eps=True, **kw),
    }
    for name, function in ways.items():
        y, drawn = function()
        assert type(drawn) is type(x), name
        again, same = function(**{name: drawn})
        np.testing.assert_array_equal(as_numpy(again.array), as_numpy(y.array), name)
        np.testing.assert_array_equal(as_numpy(same), as_numpy(drawn), name)
        assert (as_numpy(function()[0].array) != as_numpy(y.array)).any(), name
    y = F.simplified_dropconnect(x, w)
    again = F.simplified_dropconnect(x, w, mask=y.creator.mask)
    np.testing.assert_array_equal(as_numpy(again.array), as_numpy(y.array))


@on_each_kind
def test_nothing_is_drawn_outside_of_training(make):
    """Outside of training nothing is drawn, also for raw arrays."""
    x = make(np.linspace(-2, 2, 12, dtype='f').reshape(3, 4))
    w = make(np.linspace(-1, 1, 8, dtype='f').reshape(2, 4))
    before = np.random.get_state(legacy=False)
    with chainer.using_config('train', False):
        np.testing.assert_array_equal(as_numpy(F.dropout(x).array), as_numpy(x))
        np.testing.assert_array_equal(as_numpy(F.zoneout(-x, x, 0.0).array), as_numpy(x))
        slope = (1 / 8 + 1 / 3) / 2
        expected = np.where(as_numpy(x) < 0, slope * as_numpy(x), as_numpy(x))
        np.testing.assert_allclose(as_numpy(F.rrelu(x).array), expected, 1e-6)
        y = F.simplified_dropconnect(x, w, train=False)
        np.testing.assert_allclose(as_numpy(y.array), as_numpy(x) @ as_numpy(w).T, 1e-5, 1e-6)
        hy, ys = F.n_step_rnn(
            1, 0.9, x[None, :, :2], [[w, w[:, :2]]], [[w[0, :2], w[1, :2]]], [x], activation='tanh'
        )
        assert hy.shape == (1, 3, 2)
        assert ys[0].shape == (3, 2)
    np.testing.assert_equal(np.random.get_state(legacy=False), before)


def test_gumbel_softmax_of_one_class(make):
    y = F.gumbel_softmax(make(np.array(0.5, 'float32')))
    assert (y.shape, y.dtype, float(y.array)) == ((), np.float32, 1)


def test_gumbel_softmax_is_differentiable_in_its_temperature(make):
    log_pi = make(np.array([[0.5, -1, 2], [3, 0, 1]], 'float64'))
    tau = chainer.Variable(make(np.array(0.7)))

    def loss(tau):
        np.random.seed(0)
        return F.sum(F.gumbel_softmax(log_pi, tau)[:, 1])

    loss(tau).backward()
    expected = (float(loss(0.7 + 1e-6).array) - float(loss(0.7 - 1e-6).array)) / 2e-6
    assert float(tau.grad) == pytest.approx(expected, rel=1e-6)
