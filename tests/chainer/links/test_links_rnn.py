"""Links for one step of a recurrent network, and `Bilinear`. Numbers are from Chainer 7.8.1."""

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
    return chainer.backend.CpuDevice().send(getattr(x, 'array', x))


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


# Arguments, half of the second step's output, part of a gradient.
STEPS = {
    'StatefulGRU': ((), [-0.00525, 0.02914, 0.21743, 0.00623], [0.18357, -0.03651, 0.16158]),
    'GRU': ((), [-0.00525, 0.02914, 0.21743, 0.00623], [0.18357, -0.03651, 0.16158]),
    'StatefulMGU': ((), [0.30743, -0.07526, 0.02033, -0.0369], [-0.04124, 0.02638, 0.22091]),
    'StatefulPeepholeLSTM': (
        (),
        [0.27297, 0.14093, 0.00083, 0.03798],
        [-0.02013, -0.01642, -0.00956],
    ),
    'StatefulZoneoutLSTM': (
        (0.0, 0.0),
        [0.33138, 0.16485, 0.00111, 0.03514],
        [-0.01425, -0.01782, -0.01893],
    ),
}
each_step = pytest.mark.parametrize('name', STEPS)


def make(name, *args, seed=0):
    np.random.seed(seed)
    return getattr(L, name)(*args)


@each_step
def test_steps(name, device):
    more, expected, gradient = STEPS[name]
    link = make(name, 3, 2, *more).to_device(device)
    link(device.send(X))
    y = link(device.send(X[::-1].copy()))
    assert link.h is y
    near(y[:2], expected)
    link.cleargrads()
    F.sum(y).backward()
    first = min(path for path, _ in link.namedparams() if path.endswith('/W'))
    near(dict(link.namedparams())[first].grad.ravel()[:3], gradient)


@each_step
def test_states_of_steps(name, device):
    more, expected, _ = STEPS[name]
    link = make(name, 3, 2, *more)
    link(X)
    link.to_device(device)
    assert link.h.device == device
    y = link(device.send(X[::-1].copy()))
    near(y[:2], expected)
    states = [getattr(link, s) for s in link._states]
    link.reset_state()
    assert link.h is None
    first = to_numpy(link(device.send(X)))
    if not hasattr(link, 'set_state'):
        return
    with pytest.raises(TypeError, match=f'{name}: . is a ndarray, expected a Variable'):
        link.set_state(*(to_numpy(s) for s in states))
    link.set_state(*(chainer.Variable(to_numpy(s)) for s in states))
    assert link.h.device == device
    assert (to_numpy(link(device.send(X))) != first).any()


def test_stateless_steps(device):
    h = device.send(X[:, :2].copy())
    gru = make('StatelessGRU', 3, 2).to_device(device)
    near(gru(h, device.send(X))[:2], [-0.80125, -0.58819, -0.20872, -0.32418])
    mgu = make('StatelessMGU', 3, 2).to_device(device)
    near(mgu(h, device.send(X))[:2], [-0.98021, -0.43723, -0.45898, -0.19626])


def test_initializers_of_gru():
    link = L.StatelessGRU(3, 2, 1, 2, 3)
    assert (link.W.W.array == 1).all()
    assert (link.U_r.W.array == 2).all()
    assert (link.W_z.b.array == 3).all()
    link = L.StatefulGRU(None, 2)
    assert link.W.W.array is None
    assert link(X).shape == (4, 2)
    with pytest.raises(ValueError, match='GRU: 2 arguments, expected 1'):
        L.GRU(3, 2)(X, X)


def test_zoneout():
    """With a ratio of 1 the old state stays; in test mode, the ratio has no effect."""
    link = make('StatefulZoneoutLSTM', 3, 2, 1.0, 0.0)
    near(link(X), to_numpy(make('StatefulZoneoutLSTM', 3, 2, 0.0, 0.0)(X)).ravel())
    near(link.c, np.zeros(8))
    link = make('StatefulZoneoutLSTM', 3, 2, 0.0, 1.0)
    near(link(X), np.zeros(8))
    assert (to_numpy(link.c) != 0).all()
    link = make('StatefulZoneoutLSTM', 3, 2)
    with chainer.using_config('train', False):
        near(link(X), to_numpy(make('StatefulZoneoutLSTM', 3, 2, 0.0, 0.0)(X)).ravel())
    with pytest.raises(ValueError, match='train argument'):
        L.StatefulZoneoutLSTM(3, 2, train=True)


TREES = {
    'ChildSumTreeLSTM': (
        [-0.3542, -0.48953, -0.24261, -0.33039],
        [-0.32271, -0.16871, -0.18601, -0.14419],
        [-0.00196, 0.04059, 0.08314],
    ),
    'NaryTreeLSTM': (
        [-1.12791, -0.31994, -0.48974, -0.00566],
        [-0.49394, -0.24984, -0.25324, -0.00374],
        [-0.05506, 0.01676, 0.08857],
    ),
}


@pytest.mark.parametrize('name', TREES)
def test_trees(name, device):
    link = make(name, 3, 2).to_device(device)
    h, c = device.send(X[:, :2].copy()), device.send(X[:, 1:].copy())
    c_next, h_next = link(c, None, h, h, device.send(X))
    expected_c, expected_h, gradient = TREES[name]
    near(c_next[:2], expected_c)
    near(h_next[:2], expected_h)
    link.cleargrads()
    F.sum(h_next).backward()
    near(link.W_x.W.grad.ravel()[:3], gradient)
    # A missing input means zeros.
    near(
        link(c, c, h, h, None)[1],
        to_numpy(link(c, c, h, h, device.send(np.zeros((4, 3), 'f')))[1]).ravel(),
    )
    leaf = link(None, None, None, None, device.send(X))
    assert leaf[0].shape == (4, 2)
    assert leaf[0].device == device


def test_arguments_of_trees():
    h = X[:, :2]
    link = L.ChildSumTreeLSTM(3, 2)
    near(link(X)[0], to_numpy(link(None, None, X)[0]).ravel())
    assert link(h, h, h, h, h, h, X)[1].shape == (4, 2)
    with pytest.raises(ValueError, match='ChildSumTreeLSTM: 2 arguments'):
        link(h, X)
    with pytest.raises(ValueError, match='all arguments are None'):
        link(None, None, None)
    with pytest.raises(ValueError, match='NaryTreeLSTM: 3 arguments, expected 5'):
        L.NaryTreeLSTM(3, 2)(h, h, X)
    with pytest.raises(ValueError, match='n_ary is 0'):
        L.NaryTreeLSTM(3, 2, 0)
    with pytest.raises(ValueError, match='x is None'):
        L.ChildSumTreeLSTM(None, 2)(h, h, None)
    link = L.NaryTreeLSTM(None, 2, 3)
    assert link(h, h, h, h, h, h, X)[0].shape == (4, 2)
    assert link.W_h3.W.shape == (12, 2)


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
