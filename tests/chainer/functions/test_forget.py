"""chainer.functions.forget: the same values and gradients, less memory."""

import gc
import random

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable

on_each_kind = pytest.mark.parametrize('make', [np.array, chainerx.array], ids=['numpy', 'native'])


def as_numpy(x):
    return chainerx.to_numpy(x) if isinstance(x, chainerx.ndarray) else x


def data(make, *shape, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape).astype('float32')
    return Variable(make(values))


def block(x, w):
    h = F.sigmoid(x * w)
    return F.tanh(h + x), h * 2


@on_each_kind
def test_values_and_gradients_are_those_of_the_function(make):
    results = []
    for call in (block, lambda *xs: F.forget(block, *xs)):
        x, w = data(make, 3, 4), data(make, 3, 4, seed=1)
        ys = call(x, w)
        assert all(type(y.array) is type(x.array) for y in ys)
        loss = F.sum(ys[0]) + F.sum(ys[1] * ys[1])
        loss.backward()
        results.append([as_numpy(a) for a in (ys[0].array, ys[1].array, x.grad, w.grad)])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@on_each_kind
def test_creator_and_one_output(make):
    y = F.forget(lambda x: x * 2, data(make, 3))
    assert type(y.creator).__name__ == 'Forget'
    assert type(y.creator).__module__ == 'chainer.functions.util.forget'
    assert callable(y.creator.func)


@on_each_kind
def test_parameters_inside_get_gradients_once(make):
    w = chainer.Parameter(make(np.array([2.0, 3.0], 'float32')))
    w.cleargrad()
    x = data(make, 2)
    y = F.forget(lambda x: x * w, x)
    y.grad = make(np.ones(2, 'float32'))
    y.backward()
    np.testing.assert_array_equal(as_numpy(w.grad), as_numpy(x.array))
    np.testing.assert_array_equal(as_numpy(x.grad), [2, 3])


@on_each_kind
def test_nested(make):
    x = data(make, 5)
    y = F.forget(lambda x: F.forget(lambda h: h * h, F.tanh(x)), x)
    loss = F.sum(y)
    loss.backward()
    t = np.tanh(as_numpy(x.array))
    np.testing.assert_allclose(as_numpy(x.grad), 2 * t * (1 - t * t), rtol=1e-5)


def test_configuration_while_computing():
    seen = []

    def function(x):
        seen.append((chainer.config.enable_backprop, chainer.config.in_recomputing))
        return x * 2

    x = Variable(np.ones(3, 'f'))
    y = F.forget(function, x)
    y.grad = np.ones(3, 'f')
    y.backward()
    assert seen == [(False, False), (True, True)]
    assert (chainer.config.enable_backprop, chainer.config.in_recomputing) == (True, False)


def test_an_output_without_gradient():
    x = Variable(np.array([1.0, 2.0]))
    y, _ = F.forget(lambda x: (x * x, x + 1), x)
    y.grad = np.ones(2)
    y.backward()
    np.testing.assert_array_equal(x.grad, [2, 4])


def test_chainerx_arrays_are_no_fallback():
    x = data(chainerx.array, 3)
    with chainer.using_config('chainerx_fallback', 'error'):
        y = F.forget(lambda x: x * 3, x)
        y.grad = chainerx.ones(3, 'float32')
        y.backward()
    assert x.grad.tolist() == [3, 3, 3]


def in_use():
    gc.collect()
    return chainerx.get_memory_info()['in_use']


def test_intermediate_arrays_are_not_kept():
    def deep(x):
        for _ in range(10):
            x = F.tanh(x)
        return x

    x = data(chainerx.array, 1000)
    start = in_use()
    y = deep(x)
    kept = in_use() - start
    del y
    y = F.forget(deep, x)
    assert kept >= 10 * 4000
    assert in_use() - start < 2 * 4096
    del y


def test_no_inputs():
    assert F.forget(lambda: Variable(np.ones(2, 'f'))).shape == (2,)


@pytest.mark.parametrize('bad', [1, None, (Variable(np.ones(1)), 2)], ids=['int', 'None', 'second'])
def test_bad_results(bad):
    with pytest.raises(RuntimeError, match='expected a Variable'):
        F.forget(lambda x: bad, Variable(np.ones(1)))


def test_bad_arguments():
    with pytest.raises(TypeError, match='int'):
        F.forget(1, Variable(np.ones(1)))


def test_no_double_backprop():
    x = Variable(np.ones(2))
    y = F.forget(lambda x: x * x, x)
    with pytest.raises(RuntimeError, match='double'):
        chainer.grad([y], [x], enable_double_backprop=True)
    (gx,) = chainer.grad([y], [x])
    np.testing.assert_array_equal(gx.array, [2, 2])


@on_each_kind
def test_random_numbers_are_those_of_the_first_call(make):
    masks = []

    def f(x):
        y = F.dropout(x * make(np.ones(100, 'float32')), 0.5)
        masks.append(as_numpy(y.array))
        return y

    chainerx.random.seed(1)
    np.random.seed(1)
    x = Variable(make(np.ones(100, 'float32')))
    with chainer.using_config('train', True):
        y = F.forget(f, x)
        after = np.random.random(3).tolist(), chainerx.random.normal(size=3).tolist()
        np.random.seed(2)
        chainerx.random.seed(2)
        y.grad = make(np.ones(100, 'float32'))
        y.backward()
    np.testing.assert_array_equal(masks[0], masks[1])
    np.testing.assert_array_equal(as_numpy(x.grad), masks[0])
    # Draws after backward are the same as without forget.
    found = np.random.random(3).tolist(), chainerx.random.normal(size=3).tolist()
    np.random.seed(2)
    chainerx.random.seed(2)
    assert found == (np.random.random(3).tolist(), chainerx.random.normal(size=3).tolist())
    assert found != after


def test_numbers_of_python_are_those_of_the_first_call():
    kept = []

    def stochastic_depth(x):
        kept.append(random.random())
        return x * x if kept[-1] < 0.5 else x

    random.seed(1)
    x = Variable(np.ones(2, 'float32'))
    y = F.forget(stochastic_depth, x)
    after = random.random()
    y.grad = np.ones(2, 'float32')
    random.seed(2)
    y.backward()
    assert kept[0] == kept[1]
    later = random.random()
    random.seed(2)
    assert later == random.random()
    assert later != after
