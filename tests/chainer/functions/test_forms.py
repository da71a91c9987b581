"""The features of declarations beyond arrays and numbers, one function each; docs/ quotes it."""

import chainer
import chainerx
import numpy as np
import pytest
from chainer import Variable, gradient_check
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine, writable
from chainer._graph.nested import flatten, unflatten
from chainer.functions.activation.rrelu import RReLU
from devices import assert_equal, to_numpy
from numpy.testing import assert_allclose


class Centered(BuiltinFunction):
    """Subtracts the mean of the rows of x, or outside training the running mean."""

    writes = ('running_mean',)

    @staticmethod
    def compose(x, *, running_mean, decay=0.9):
        running = writable('centered', 'running_mean', running_mean)
        if not chainer.config.train:
            return x - running
        mean = x.mean(0)
        running *= decay
        running += (1 - decay) * mean.as_grad_stopped()
        return x - mean


def centered(x, running_mean, decay=0.9):
    return Centered.call(x, running_mean=running_mean, decay=decay)


class Recurrent(BuiltinFunction):
    """tanh(h @ wh + x @ wx) for each x in xs, in layers; ws has a pair of matrices per layer."""

    @staticmethod
    def compose(*inputs, structure):
        hs, ws, xs = unflatten(structure, inputs)
        hs, ys = list(hs), []
        for x in xs:
            for layer, (wh, wx) in enumerate(ws):
                x = hs[layer] = chainerx.tanh(hs[layer] @ wh + x @ wx)
            ys.append(x)
        return tuple(ys)


def recurrent(hs, ws, xs):
    inputs, structure = flatten((hs, ws, xs))
    return Recurrent.call(*inputs, structure=structure)


X = np.array([[1, 2, 3], [3, 6, 9]], 'f')


def test_an_attribute_is_written_in_training_only(make):
    running = make(np.full(3, 10, 'f'))
    y = centered(make(X), running)
    assert_allclose(to_numpy(running), [9.2, 9.4, 9.6], rtol=1e-6)
    assert_equal(y.array, X - X.mean(0))
    with chainer.using_config('train', False):
        z = centered(make(X), running)
    assert_equal(z.array, X - to_numpy(running))
    assert_allclose(to_numpy(running), [9.2, 9.4, 9.6], rtol=1e-6)
    assert_equal(y.creator.running_mean, to_numpy(running))


def test_strides_of_written_arrays_are_kept():
    whole = np.full((2, 6), 10, 'f')
    centered(X, whole[0, ::-2])
    assert_allclose(whole, [[10, 9.6, 10, 9.4, 10, 9.2], [10] * 6], rtol=1e-6)


def test_gradients_of_a_function_that_writes(make):
    running = make(np.zeros(3, 'f'))
    x = Variable(make(X))
    y = centered(x, running) ** 2
    y.grad = make(np.ones_like(X))
    y.backward()
    assert_allclose(to_numpy(x.grad), 2 * (X - X.mean(0)), rtol=1e-5, atol=1e-5)


def test_a_subclass_that_computes_again_writes_once(make):
    class Mine(Centered):
        def forward(self, inputs):
            return super().forward(inputs)

    running = make(np.zeros(3, 'f'))
    x = Variable(make(X))
    (y,) = Mine(running, 0.5).apply((x,))
    expected = X.mean(0) / 2
    assert_allclose(to_numpy(running), expected)
    y.grad = make(np.ones_like(X))
    with chainer.using_config('train', False):  # the value in the forward pass counts
        y.backward()
    assert_allclose(to_numpy(running), expected)
    assert_allclose(to_numpy(x.grad), np.zeros_like(X), atol=1e-6)


@pytest.mark.parametrize(
    ('array', 'text'),
    [
        (np.broadcast_to(np.zeros(1, 'f'), 3), 'centered: running_mean is read-only'),
        (np.zeros(3, '>f4'), 'centered: running_mean has dtype >f4 and strides'),
        ([0.0, 0.0, 0.0], 'centered: running_mean is a list, expected an array'),
    ],
)
def test_unwritable_values_are_errors(array, text):
    with pytest.raises(TypeError if isinstance(array, list) else ValueError, match=text):
        centered(X, array)


def test_lists_of_lists_of_inputs(make):
    rng = np.random.default_rng(0)

    def some(*shape):
        return rng.uniform(-1, 1, shape).astype('f')

    hs = [some(2, 3), some(2, 3)]
    ws = [(some(3, 3), some(4, 3)), [some(3, 3), some(3, 3)]]
    xs = [some(2, 4) for _ in range(3)]
    inputs, structure = flatten((hs, ws, xs))

    h = list(hs)
    for y, x in zip(recurrent(*unflatten(structure, map(make, inputs))), xs, strict=True):
        for layer, (wh, wx) in enumerate(ws):
            x = h[layer] = np.tanh(h[layer] @ wh + x @ wx)
        assert_allclose(to_numpy(y.array), x, rtol=1e-5, atol=1e-6)

    gradient_check.check_backward(
        lambda *flat: recurrent(*unflatten(structure, flat)),
        tuple(map(make, inputs)),
        tuple(make(some(2, 3)) for _ in xs),
        dtype='d',
    )


@pytest.mark.parametrize('tree', [[], [[], 1], (1, [2, (3, None), []], [[[4]]]), 5])
def test_flatten_and_back(tree):
    def tuples(node):
        return tuple(map(tuples, node)) if isinstance(node, (list, tuple)) else node

    inputs, structure = flatten(tree)
    assert unflatten(structure, inputs) == tuples(tree)
    with pytest.raises(ValueError, match='more inputs'):
        unflatten(structure, [*inputs, 0])
    if inputs:
        with pytest.raises(ValueError, match='too few inputs'):
            unflatten(structure, inputs[1:])


def test_a_subclass_computes_again_as_in_training(make):
    """Recomputation uses the train flag and the random values of the forward pass."""

    class Mine(RReLU):
        def forward(self, inputs):
            return super().forward(inputs)

    x = Variable(make(-np.ones((4, 5), 'f')))
    f = Mine()
    (y,) = f.apply((x,))
    y.grad = make(np.ones((4, 5), 'f'))
    with chainer.using_config('train', False):
        y.backward()
    assert_equal(x.grad, to_numpy(f.r))
    assert len(np.unique(to_numpy(f.r))) > 5


class Power(BuiltinFunction):
    @staticmethod
    def compose(x, *, exponent=2, scale):
        return scale * x**exponent


class Clipped(BuiltinFunction):
    compose = routine(chainerx.clip, low=..., high=1)


def test_attributes_follow_from_the_composition():
    assert Power.attributes == {'exponent': 2, 'scale': ...}
    assert Clipped.attributes == {'low': ..., 'high': 1}
    assert str(Power.__signature__) == '(exponent=2, *, scale)'
    f = Power(3, scale=2)
    assert (f.exponent, f.scale) == (3, 2)


def test_attributes_are_passed_by_name():
    x = np.array([3], 'f')
    for y in (
        Power.call(x, exponent=2, scale=3),
        Power.call(x, scale=3, exponent=2),
        Power.call(x, scale=3),
        Power.call(x, **{'sc' + 'ale': 3}),
    ):
        assert y.array == [27]
        assert (y.creator.exponent, y.creator.scale) == (2, 3)
    assert Clipped.call(x, low=0).array == [1]
    assert Clipped.call(x, high=2, low=0).array == [2]


@pytest.mark.parametrize(
    ('kwargs', 'text'),
    [
        ({}, 'Power: the attribute scale is missing'),
        ({'exponent': 1}, 'Power: the attribute scale is missing'),
        ({'scale': 1, 'exponents': 1}, 'Power: there is no attribute exponents'),
    ],
)
def test_bad_attributes(kwargs, text):
    with pytest.raises(TypeError, match=text):
        Power.call(np.ones(2, 'f'), **kwargs)


def test_attributes_are_not_passed_by_position():
    with pytest.raises(TypeError, match='Power: input 1 is a int'):
        Power.call(np.ones(2, 'f'), 3, scale=1)


def test_a_method_named_compose_is_no_composition():
    class Mine(Power):
        def compose(self):
            return 'mine'

    f = Mine(scale=2)
    assert Mine.call is Power.call
    assert f.compose() == 'mine'
    assert f.apply((np.array([3], 'f'),))[0].array == [18]
