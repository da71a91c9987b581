"""The links `Bias` and `Scale`."""

from __future__ import annotations

import chainer
import numpy as np
import pytest
from chainer import functions as F
from chainer import links as L
from chainer.utils.type_check import InvalidType
from devices import DEVICES


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


def to_numpy(x):
    return chainer.backend.CpuDevice().send(x)


def random(*shape):
    return np.random.RandomState(sum(shape)).uniform(-1, 1, shape).astype('f')


def shapes(link):
    return {path: p.shape if p.is_initialized else None for path, p in link.namedparams()}


def check(link, device, inputs, expected, rtol=1e-5):
    """Compare value, dtype and device of an output; return it."""
    link.to_device(device)
    y = link(*[device.send(x) for x in inputs])
    assert isinstance(y, chainer.Variable)
    assert y.device == device
    assert y.dtype == expected.dtype
    np.testing.assert_allclose(to_numpy(y.array), expected, rtol=rtol, atol=1e-6)
    return y


# -- Bias


@pytest.mark.parametrize(('axis', 'shape'), [(0, (2,)), (1, (3,)), (1, (3, 4)), (2, 4), (0, ())])
def test_bias(device, axis, shape):
    x = random(2, 3, 4)
    link = L.Bias(axis, shape)
    np.testing.assert_array_equal(link.b.array, np.zeros(link.b.shape))
    b = random(*link.b.shape)
    link.b.array[...] = b
    full = b.reshape((1,) * axis + b.shape + (1,) * (3 - axis - b.ndim))
    y = check(link, device, [x], x + full)
    link.cleargrads()
    F.sum(y).backward()
    np.testing.assert_allclose(to_numpy(link.b.grad), np.full(b.shape, 24 / max(b.size, 1)))


def test_bias_without_parameter(device):
    x, b = random(2, 3), random(3)
    link = L.Bias()
    assert shapes(link) == {}
    check(link, device, [x, b], x + b)


# -- Scale


def test_scale(device):
    x, w = random(2, 3, 4), random(3)
    link = L.Scale(1, (3,))
    assert shapes(link) == {'/W': (3,)}
    np.testing.assert_array_equal(link.W.array, np.ones(3))
    link.W.array[...] = w
    y = check(link, device, [x], x * w[:, None])
    link.cleargrads()
    F.sum(y).backward()
    np.testing.assert_allclose(to_numpy(link.W.grad), x.sum((0, 2)), rtol=1e-4)


def test_scale_with_bias(device):
    x, b = random(2, 3), random(3)
    link = L.Scale(1, (3,), bias_term=True, bias_shape=(9,))
    assert shapes(link) == {'/W': (3,), '/bias/b': (3,)}
    assert link.bias.axis == 1
    link.W.array[...] = 2
    link.bias.b.array[...] = b
    check(link, device, [x], 2 * x + b)


def test_scale_without_parameter(device):
    x, w = random(2, 3), random(3)
    check(L.Scale(), device, [x, w], x * w)
    link = L.Scale(bias_term=True, bias_shape=(3,))
    assert shapes(link) == {'/bias/b': (3,)}
    check(link, device, [x, w], x * w)
    with pytest.raises(ValueError, match='bias_shape should be given'):
        L.Scale(bias_term=True)


@pytest.mark.parametrize(
    ('link', 'inputs', 'message'),
    [
        (L.Bias(), 1, 'Bias has no parameter b: it takes 2 inputs, not 1'),
        (L.Bias(), 3, 'it takes 2 inputs, not 3'),
        (L.Bias(1, (3,)), 0, 'Bias has a parameter b: it takes 1 inputs, not 0'),
        (L.Bias(1, (3,)), 2, 'it takes 1 inputs, not 2'),
        (L.Scale(), 1, 'Scale has no parameter W: it takes 2 inputs, not 1'),
        (L.Scale(1, (3,)), 2, 'Scale has a parameter W: it takes 1 inputs, not 2'),
    ],
)
def test_wrong_numbers_of_inputs(link, inputs, message):
    with pytest.raises(ValueError, match=message):
        link(*[random(2, 3)] * inputs)


@pytest.mark.parametrize('make', [L.Bias, L.Scale])
@pytest.mark.parametrize(('axis', 'shape'), [(1, (2,)), (2, (3,)), (0, (2, 3, 4))])
def test_shapes_that_do_not_fit(make, axis, shape):
    with pytest.raises((InvalidType, ValueError), match=r'Broadcast|does not fit'):
        make(axis, shape)(random(2, 3))


@pytest.mark.parametrize(('dtype', 'expected'), [(np.float16, 'e'), (chainer.mixed16, 'e')])
def test_dtype_comes_from_config(dtype, expected):
    with chainer.using_config('dtype', dtype):
        links = [L.Bias(1, (2,)), L.Scale(1, (2,), True)]
    for link in links:
        assert all(param.dtype == expected for param in link.params())
