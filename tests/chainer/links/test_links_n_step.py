"""Links over whole sequences, such as `NStepLSTM`. Numbers are from Chainer 7.8.1."""

from __future__ import annotations

import copy
import gc

import chainer
import chainerx
import numpy as np
import pytest
from chainer import functions as F
from chainer import links as L
from chainer.links.rnn.n_step_rnn import argsort_list_descent, permutate_list
from chainer.utils import type_check
from devices import DEVICES

X = np.arange(12, dtype='f').reshape(4, 3) / 6 - 1
# For two layers in test mode: the last state of the last layer, the output at the second step of
# the first sequence, and a row of the gradient of the first weight.
EXPECTED = {
    'LSTM': (
        [0.06234, 0.00653, -0.03504, -0.01662, 0.04814, 0.01963],
        [0.03197, 0.00326],
        [-0.13948, -0.11713, -0.09478],
    ),
    'GRU': (
        [0.15731, 0.4574, 0.08987, 0.16466, 0.09689, 0.42472],
        [0.15731, 0.4574],
        [0.00513, 0.00186, -0.00141],
    ),
    'RNNTanh': (
        [-0.85803, -0.85536, 0.41003, -0.05186, -0.78909, -0.52017],
        [-0.85803, -0.85536],
        [-0.19225, 0.01029, 0.21282],
    ),
    'RNNReLU': ([0, 0, 1.07096, 0.77467, 0, 0], [0, 0], [0.31999, 0.62284, 0.92569]),
    'BiLSTM': (
        [-0.22006, -0.03049, -0.15036, 0.00448, -0.14457, -0.01722],
        [0.00533, -0.09457, -0.04317, 0.00277],
        [0.08891, 0.07718, 0.06544],
    ),
    'BiGRU': (
        [-0.25698, 0.04053, -0.35043, 0.1008, -0.16136, -0.01392],
        [0.1867, -0.08949, -0.21213, -0.01047],
        [0.003, 0.00074, -0.00152],
    ),
    'BiRNNTanh': (
        [0.91712, -0.99406, 0.88436, -0.81959, 0.89664, -0.72764],
        [0.74002, -0.36183, 0.84056, -0.71739],
        [-0.90283, -0.20756, 0.48771],
    ),
    'BiRNNReLU': ([0, 0, 0, 2.34271, 0, 0], [0, 0, 0, 0], [2.6918, 4.59288, 6.49397]),
}
KINDS = list(EXPECTED)


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


def to_numpy(x):
    return chainer.backend.CpuDevice().send(getattr(x, 'array', x))


def near(x, expected, atol=2e-5):
    np.testing.assert_allclose(to_numpy(x).ravel(), expected, atol=atol)


def make(kind, *args, seed=0):
    np.random.seed(seed)
    return getattr(L, f'NStep{kind}')(*args)


def call(link, xs, states=None):
    return link(*(states or [None] * link.n_cells), xs)


@pytest.mark.parametrize('kind', KINDS)
def test_values(kind, device):
    link = make(kind, 2, 3, 2, 0.5).to_device(device)
    xs = [device.send(x) for x in (X[:2], X, X[:1])]
    with chainer.using_config('train', False):
        *states, ys = call(link, xs)
    assert [y.shape[0] for y in ys] == [2, 4, 1]
    assert all(y.device == device for y in (*states, *ys))
    last, y, gw = EXPECTED[kind]
    near(states[-1][-1], last)
    near(ys[0][1], y)
    link.cleargrads()
    sum(F.sum(y) for y in ys).backward()
    near(link[0].w0.grad[0], gw, 1e-4)
    assert all(p.grad is not None for p in link.params())


@pytest.mark.parametrize('kind', KINDS)
def test_parameters(kind):
    link = make(kind, 2, 3, 2, 0)
    directions = 2 if 'Bi' in kind else 1
    n = {'LSTM': 8, 'GRU': 6}.get(kind.removeprefix('Bi'), 2)
    assert len(link) == 2 * directions
    assert {path: p.shape for path, p in link.namedparams()} == {
        f'/{i}/{letter}{j}': shape
        for i in range(2 * directions)
        for j in range(n)
        for letter, shape in (
            ('b', (2,)),
            ('w', (2, 2 if j >= n // 2 else 3 if i < directions else 2 * directions)),
        )
    }
    assert [len(w) for w in link.ws] == [n] * 2 * directions
    assert link.ws[1][0] is link[1].w0
    assert link.bs[0][1] is link[0].b1
    assert (link.n_layers, link.out_size, link.dropout) == (2, 2, 0)
    assert (link.direction, link.use_bi_direction) == (directions, directions == 2)
    other = copy.deepcopy(link)
    assert other.ws[0][0] is other[0].w0


def test_initializers():
    link = L.NStepGRU(1, 3, 2, 0, initialW=2, initial_bias=3)
    assert all((p.array == (2 if p.ndim == 2 else 3)).all() for p in link.params())


def test_states_and_order(device):
    """Initial states follow their sequences, which may come in any order."""
    link = make('BiLSTM', 1, 3, 2, 0).to_device(device)
    rng = np.random.default_rng(0)
    lengths = [1, 3, 0, 2, 3]
    xs = [rng.normal(size=(n, 3)).astype('f') for n in lengths]
    hx, cx = rng.normal(size=(2, 2, 5, 2)).astype('f')
    hy, cy, ys = link(device.send(hx), device.send(cx), [device.send(x) for x in xs])
    assert [y.shape for y in ys] == [(n, 4) for n in lengths]
    for i, x in enumerate(xs):
        h, c, (y,) = link(
            *(device.send(s[:, i : i + 1].copy()) for s in (hx, cx)), [device.send(x)]
        )
        near(h[:, 0], to_numpy(hy)[:, i].ravel())
        near(c[:, 0], to_numpy(cy)[:, i].ravel())
        near(y, to_numpy(ys[i]).ravel())


def test_gradients_reach_all_inputs(device):
    link = make('GRU', 2, 3, 2, 0.5).to_device(device)
    xs = [chainer.Variable(device.send(x)) for x in (X[:2], X)]
    hx = chainer.Variable(device.send(np.ones((2, 2, 2), 'f')))
    hy, ys = link(hx, xs)
    (F.sum(hy * hy) + sum(F.sum(y * y) for y in ys)).backward()
    assert [x.grad.shape for x in (hx, *xs)] == [(2, 2, 2), (2, 3), (4, 3)]


def test_dropout_is_between_layers():
    one, two = make('RNNTanh', 1, 3, 20, 0.9), make('RNNTanh', 2, 3, 20, 0.9)

    def draw(link, seed):
        np.random.seed(seed)
        return to_numpy(call(link, [X])[1][0])

    np.testing.assert_array_equal(draw(one, 1), draw(one, 2))
    np.testing.assert_array_equal(draw(two, 1), draw(two, 1))
    assert (draw(two, 1) != draw(two, 2)).any()
    with chainer.using_config('train', False):
        np.testing.assert_array_equal(draw(two, 1), draw(two, 2))


def test_other_functions_may_be_applied():
    class Scaled(L.NStepGRU):
        def rnn(self, *args):
            hy, ys = super().rnn(*args)
            return hy, [2 * y for y in ys]

    np.random.seed(0)
    scaled = Scaled(1, 3, 2, 0)
    np.testing.assert_array_equal(
        to_numpy(call(scaled, [X])[1][0]), 2 * to_numpy(call(make('GRU', 1, 3, 2, 0), [X])[1][0])
    )


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('lengths', [(3, 3), (1,), (2, 4, 0, 4, 1), (0, 0)], ids=str)
def test_sequences_and_steps_agree(kind, lengths, device):
    """A subclass with its own functions computes step by step, and agrees with our links."""
    link = make(kind, 2, 3, 5, 0).to_device(device)
    cls = type(link)
    own = type('Own', (cls,), {'rnn': lambda self, *args: cls.rnn(self, *args)})
    other = make(kind, 2, 3, 5, 0).to_device(device)
    other.__class__ = own
    rng = np.random.default_rng(0)
    xs = [rng.normal(size=(n, 3)).astype('f') for n in lengths]
    directions = 2 if 'Bi' in kind else 1
    states = rng.normal(size=(link.n_cells, 2 * directions, len(xs), 5)).astype('f')
    results = []
    for each in (link, other):
        leaves = [chainer.Variable(device.send(x)) for x in (*states, *xs)]
        *lasts, ys = call(each, leaves[len(states) :], leaves[: len(states)])
        assert isinstance(ys, list)
        outputs = [*lasts, *ys]
        sum(F.sum(y * y) for y in outputs).backward()
        gradients = [x.grad for x in (*leaves, *each.params()) if x.grad is not None]
        results.append([to_numpy(x) for x in (*outputs, *gradients)])
    assert len(results[0]) == len(results[1])
    for y, e in zip(*results, strict=True):
        np.testing.assert_allclose(y, e, 2e-5, 2e-5)


def test_hooks_see_one_function():
    link = make('BiGRU', 1, 3, 2, 0)
    with chainer.function_hooks.TimerHook() as hook:
        _, ys = call(link, [X[:2], X])
    assert [name for name, _ in hook.call_history][-1:] == ['NStepBiGRU']
    creator = ys[0].creator
    assert isinstance(creator, F.rnn.n_step_gru.NStepBiGRU)
    assert (creator.n_layers, creator.dropout_ratio) == (1, 0)
    assert len(creator.inputs) == 1 + 2 * 12 + 2


def test_raw_arrays_of_chainerx():
    link = make('LSTM', 1, 3, 2, 0).to_device('native:0')
    _, _, (y,) = call(link, [chainerx.array(X)])
    assert isinstance(y.array, chainerx.ndarray)
    assert y.creator.label == 'NStepLSTM'


def test_snapshot(tmp_path):
    link, other = make('BiGRU', 2, 3, 2, 0), make('BiGRU', 2, 3, 2, 0, seed=1)
    chainer.serializers.save_npz(tmp_path / 'a', link)
    with np.load(tmp_path / 'a') as saved:
        assert sorted(saved)[:3] == ['0/b0', '0/b1', '0/b2']
        assert len(saved.files) == 48
    chainer.serializers.load_npz(tmp_path / 'a', other)
    np.testing.assert_array_equal(to_numpy(call(link, [X])[0]), to_numpy(call(other, [X])[0]))


def test_lists():
    xs = [X[:2], X, X[:3], X]
    assert argsort_list_descent(xs).tolist() == [1, 3, 2, 0]
    assert argsort_list_descent(xs).dtype == np.int32
    assert permutate_list('abc', [2, 0, 1], inv=False) == ['c', 'a', 'b']
    assert permutate_list('abc', [2, 0, 1], inv=True) == ['b', 'c', 'a']


def test_errors():
    link = make('LSTM', 1, 3, 2, 0)
    h = np.zeros((1, 3, 2), 'f')
    with pytest.raises(TypeError, match='NStepLSTM: xs is a ndarray'):
        call(link, X)
    with pytest.raises(TypeError, match=r'NStepLSTM: xs\[0\] is a list'):
        call(link, [X.tolist()])
    with pytest.raises(TypeError, match='NStepLSTM: incompatible array types'):
        call(link, [X, chainerx.array(X)])
    with pytest.raises(ValueError, match='NStepLSTM: xs has no sequence'):
        call(link, [])
    with pytest.raises(ValueError, match=r'shape \(1, 3, 2\), expected 2'):
        link(h, None, [X, X])
    with pytest.raises(chainer.utils.type_check.InvalidType, match=r'(?s)ws\[0\]\[0\].*3 != 2'):
        call(link, [X[:, :2]])
    with pytest.raises(chainer.utils.type_check.InvalidType, match=r'(?s)hx.shape\[0\].*2 != 1'):
        link(np.zeros((2, 1, 2), 'f'), np.zeros((2, 1, 2), 'f'), [X])
    with pytest.raises(ValueError, match='train argument'):
        link(None, None, [X], train=True)
    with pytest.raises(ValueError, match='n_layers is 0'):
        call(L.NStepGRU(0, 3, 2, 0), [X])
    with pytest.raises(NotImplementedError):
        L.NStepRNNTanh.__mro__[1].rnn(link)


# -- changes between two calls


def n_step(cls=L.NStepLSTM, dropout=0.0):
    np.random.seed(0)
    link = cls(1, 3, 2, dropout)
    for param in link.params():
        param.array[...] = np.random.uniform(-1, 1, param.shape)
    return link


def outputs_of(link, xs):
    states = [None] * link.n_cells
    *_, ys = link(*states, xs)
    assert type(ys) is list
    return [to_numpy(y) for y in ys]


def by_function(link, xs):
    """The same result by the step function, one sequence after the other."""
    result = []
    for x in xs:
        states = [chainer.Variable(link.device.xp.zeros((1, 1, 2), 'f')) for _ in range(2)]
        steps = [x[i : i + 1] for i in range(len(x))]
        *_, ys = F.n_step_lstm(1, 0.0, *states, link.ws, link.bs, steps)
        result.append(np.concatenate([to_numpy(y) for y in ys]))
    return result


def n_step_assign_parameter(link):
    link[0].w1 = chainer.Parameter(link[0].w1.array * 2)


def n_step_assign_array(link):
    link[0].b7.array = link[0].b7.array + 1


def n_step_write_array(link):
    link[0].w4.array[...] = 0


def n_step_replace_child(link):
    link[0] = n_step()[0].copy('init')


@pytest.mark.parametrize('backprop', [True, False])
@pytest.mark.parametrize(
    'change',
    [n_step_assign_parameter, n_step_assign_array, n_step_write_array, n_step_replace_child],
    ids=lambda f: f.__name__,
)
def test_sequences_see(change, backprop):
    link = n_step()
    xs = [X, X[:2]]
    with chainer.using_config('enable_backprop', backprop):
        before = outputs_of(link, xs)
        np.random.seed(2)
        change(link)
        after = outputs_of(link, xs)
        for y, expected in zip(after, by_function(link, xs), strict=True):
            np.testing.assert_allclose(y, expected, 1e-5, 1e-6)
    assert np.abs(after[0] - before[0]).max() > 1e-3


def test_sequences_see_a_copy():
    link = n_step()
    share, copied = link.copy('share'), link.copy('copy')
    link[0].w0.array[...] = 3
    outputs = [outputs_of(x, [X])[0] for x in (link, share, copied)]
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert np.abs(outputs[0] - outputs[2]).max() > 1e-3


def test_sequences_of_subclasses():
    class Zeros(L.NStepLSTM):
        def rnn(self, *args):
            hy, cy, ys = super().rnn(*args)
            return hy, cy, [y * 0 for y in ys]

    class Ones(L.NStepLSTM):
        def init_hx(self, xs):
            return super().init_hx(xs) + 1

    class Named(L.NStepLSTM):
        @property
        def dropout(self):
            return 0.0

        @dropout.setter
        def dropout(self, value):
            self.__dict__['dropout'] = 'not looked at'

    expected = outputs_of(n_step(), [X])[0]
    np.testing.assert_array_equal(outputs_of(n_step(Zeros), [X])[0], 0)
    assert np.abs(outputs_of(n_step(Ones), [X])[0] - expected).max() > 1e-3
    np.testing.assert_array_equal(outputs_of(n_step(Named), [X])[0], expected)
    np.testing.assert_array_equal(outputs_of(n_step(dropout=0), [X])[0], expected)
    link = n_step()
    link.rnn = lambda *args: (*args[2:4], [x[:, :2] for x in args[6]])
    np.testing.assert_array_equal(outputs_of(link, [X])[0], X[:, :2])


def test_sequences_that_are_removed_during_the_call():
    """`init_hx` may even modify the list of sequences during the call."""

    class Emptying(L.NStepLSTM):
        def init_hx(self, xs):
            h = super().init_hx(xs)
            calls.append(len(xs))
            if len(calls) == 2:
                xs.clear()
                self[0].w0 = chainer.Parameter(X[:2] * 0)
                gc.collect()
            return h

    calls = []
    link = n_step(Emptying)
    expected = n_step()
    expected[0].w0.array[...] = 0
    np.testing.assert_array_equal(outputs_of(link, [X])[0], outputs_of(expected, [X])[0])
    assert calls == [1, 1]


def test_sequences_errors():
    link = n_step()
    h = np.zeros((1, 2, 2), 'f')
    with pytest.raises(ValueError, match=r'shape \(1, 2, 2\), expected 1'):
        link(h, h, [X])
    with (
        chainer.using_config('type_check', False),
        pytest.raises(ValueError, match=r'shape \(1, 2, 2\), expected 1'),
    ):
        link(h, h, [X])
    with pytest.raises(TypeError, match='xs is a generator'):
        link(None, None, (x for x in [X]))
    link[0].w3.array = None
    with pytest.raises(TypeError, match='uninitialized'):
        link(None, None, [X])
    del link[0].w3
    with pytest.raises(AttributeError, match='w3'):
        link(None, None, [X])


def test_sequences_of_other_precision(device):
    link = n_step()
    link.to_device(device)
    x = device.send(X.astype('d'))
    if device.xp is chainerx:
        assert link(None, None, [x])[0].dtype == 'float64'
        return
    with pytest.raises(type_check.InvalidType):
        link(None, None, [x])


@pytest.mark.parametrize('method', ['rnn', 'init_hx'])
def test_patched_sequences(method, monkeypatch):
    link = n_step()
    args = [None, None, [X, X[:2]]]
    expected = link(*args)
    old = getattr(L.NStepLSTM, method)
    seen = []

    def patched(self, *args):
        seen.append(method)
        return old(self, *args)

    with monkeypatch.context() as m:
        m.setattr(L.NStepLSTM, method, patched)
        for x, y in zip(link(*args)[2], expected[2], strict=True):
            np.testing.assert_allclose(x.array, y.array, 1e-5)
    assert seen
    assert link(*args)[2][0].shape == expected[2][0].shape
