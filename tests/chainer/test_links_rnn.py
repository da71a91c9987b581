"""The links `LSTM`, `StatelessLSTM` and `Bilinear`. Numbers are those of Chainer 7.8.1."""

from __future__ import annotations

import chainer
import numpy as np
import pytest
from chainer import functions as F
from chainer import links as L
from chainer.initializers import Normal, Uniform
from devices import DEVICES

X = np.arange(12, dtype='f').reshape(4, 3) / 6 - 1


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


def to_numpy(x):
    return chainer.backend.CpuDevice().send(x.array)


def near(x, expected, atol=2e-5):
    np.testing.assert_allclose(to_numpy(x).ravel(), expected, atol=atol)


def lstm(*args, seed=0, **kw):
    np.random.seed(seed)
    return L.LSTM(*args, **kw)


def test_lstm(device):
    link = lstm(3, 2).to_device(device)
    y = link(device.send(X))
    assert y.device == device
    assert y.creator.label == 'LSTM'
    assert link.h is y
    near(y, [-0.20367, -0.05191, -0.10785, -0.06414, 0.02136, -0.03754, 0.11715, 0.04643])
    near(link(device.send(X[:2])), [-0.27351, -0.06459, -0.1837, -0.08953])
    y = link(device.send(X[:1:-1]))
    near(y, [-0.13084, 0.15571, -0.15496, -0.0282])
    near(link.h, [-0.13084, 0.15571, -0.15496, -0.0282, 0.02136, -0.03754, 0.11715, 0.04643])
    assert link.c.shape == (4, 2)
    F.sum(link.h).backward()
    assert all(p.grad is not None for p in link.params())
    assert link(device.send(X[:0])).shape == (0, 2)
    assert link.h.shape == (4, 2)


def test_weights_are_drawn_as_in_v7():
    link = lstm(3, 2, Normal(1), Uniform(1), 5, forget_bias_init=7)
    near(link.upward.b, [5, 5, 7, 5, 5, 5, 7, 5])
    near(link.lateral.W[:3], [1.7641, 0.4002, 0.9787, 2.2409, 0.144, 1.4543], 1e-4)
    near(link.upward.W[:2], [-0.1527, 0.2918, -0.1248, 0.7835, 0.9273, -0.2331], 1e-4)


@pytest.mark.parametrize('args', [(None, 2), (2,)])
def test_lstm_of_unknown_input(device, args):
    link = lstm(*args).to_device(device)
    assert link.upward.W.array is None
    near(link.upward.b, [0, 0, 1, 0, 0, 0, 1, 0])
    near(link.lateral.W, np.zeros(16))
    np.random.seed(1)
    link(device.send(X.reshape(4, 3, 1)))
    assert link.upward.W.device == device
    near(link.lateral.W[:2], [1.1486, -0.4326, -0.3735, -0.7587], 1e-4)
    near(link.upward.W[0], [0.4996, -1.3288, 1.0074], 1e-4)


def test_state(device):
    link = lstm(3, 2)
    link(X)
    state = to_numpy(link.c), to_numpy(link.h)
    h = link.h
    link.to_device(device)
    assert link.c.device == device
    assert link.h.device == device
    assert h.device.name == '@numpy'
    link(device.send(X))
    link.reset_state()
    assert link.c is None
    assert link.h is None
    link.set_state(*map(chainer.Variable, state))
    assert link.c.device == device
    np.testing.assert_array_equal(to_numpy(link.h), state[1])
    with pytest.raises(TypeError, match='5 rows, expected no more than the 4'):
        link(device.send(np.zeros((5, 3), 'f')))
    with pytest.raises(TypeError, match='c is a ndarray'):
        link.set_state(*state)


def test_state_is_not_saved(tmp_path):
    link, other = lstm(3, 2), lstm(3, 2, seed=1)
    y = link(X)
    chainer.serializers.save_npz(tmp_path / 'a', link)
    with np.load(tmp_path / 'a') as saved:
        assert set(saved) == {'upward/W', 'upward/b', 'lateral/W'}
    chainer.serializers.load_npz(tmp_path / 'a', other)
    near(other(X), to_numpy(y).ravel())


def test_stateless_lstm(device):
    np.random.seed(0)
    link = L.StatelessLSTM(3, 2).to_device(device)
    x = device.send(X)
    c, h = link(None, None, x)
    c, h = link(c, h, x)
    other = lstm(3, 2).to_device(device)
    other(x)
    near(h, to_numpy(other(x)).ravel())
    near(c, to_numpy(other.c).ravel())
    assert link(c, None, x)[1].shape == (4, 2)
    assert link(None, h, x)[1].shape == (4, 2)


def test_bilinear(device):
    np.random.seed(0)
    link = L.Bilinear(2, 3, 2).to_device(device)
    y = link(device.send(X[:2, :2]), device.send(X[:2]))
    near(y, [1.05092, 1.11207, -0.30144, 0.27653])
    F.sum(y).backward()
    assert {path: p.grad.shape for path, p in link.namedparams()} == {
        '/W': (2, 3, 2),
        '/V1': (2, 2),
        '/V2': (3, 2),
        '/b': (2,),
    }


def test_bilinear_zero_grads():
    link = L.Bilinear(2, 3, 2)
    with pytest.warns(DeprecationWarning, match='zerograds'):
        link.zero_grads()
    assert all((p.grad == 0).all() for p in link.params())


def test_bilinear_options():
    link = L.Bilinear(2, 3, 2, True, np.ones((2, 3, 2), 'f'))
    assert [path for path, _ in link.namedparams()] == ['/W']
    near(link(X[:, :2], X), np.repeat(X[:, :2].sum(1) * X.sum(1), 2))
    link = L.Bilinear(2, 3, 2, initialW=0, initial_bias=(0, 0, 3))
    near(link(X[:, :2], X), np.full(8, 3))
    with pytest.raises(ValueError, match='tuple of three'):
        L.Bilinear(2, 3, 2, initial_bias=[1, 2, 3])
