"""`Linear`, `LSTM` and the links of whole sequences find what a call needs in C++. Nothing that may
change what a call does may escape them: each row changes something, and says what must follow.
"""

from __future__ import annotations

import gc

import chainer
import chainerx
import numpy as np
import pytest
from chainer import functions as F
from chainer import link_hooks
from chainer import links as L
from chainer.utils import type_check
from devices import DEVICES

X = np.arange(12, dtype='f').reshape(4, 3) / 6 - 1


class Twice(L.Linear):
    def forward(self, x, n_batch_axes=1):
        return super().forward(x, n_batch_axes) * 2


def to_numpy(x):
    return chainer.backend.CpuDevice().send(getattr(x, 'array', x))


def replace_layer(link):
    link.lateral.__class__ = Twice


def assign_forward(link):
    link.upward.forward = lambda x: L.Linear.forward(link.upward, x) * 2


def assign_parameter(link):
    link.lateral.W = chainer.Parameter(link.lateral.W.array * 2)


def assign_array(link):
    w = link.upward.W
    if isinstance(w.array, np.ndarray):
        w.array = w.array * 2
    else:  # chainerx keeps the array of what wants a gradient
        link.upward.W = chainer.Parameter(w.array * 2)


def write_array(link):
    link.upward.b.array[...] = 2


def remove_bias(link):
    link.upward.b = None


def add_hook(link):
    # After two calls of the layer its weight is divided by its largest singular value.
    link.upward.add_hook(link_hooks.SpectralNormalization(n_power_iteration=3))


CHANGES = [
    replace_layer,
    assign_forward,
    assign_parameter,
    assign_array,
    write_array,
    remove_bias,
    add_hook,
]


class Plain(L.LSTM):
    """The same, spelled out; what is tested against."""

    def forward(self, x):
        gates = self.upward(x)
        if self.h is not None:
            gates = gates + self.lateral(self.h)
        c = self.c
        if c is None:
            c = chainer.Variable(self.device.xp.zeros((len(x), self.state_size), 'f'))
            c.to_device(self.device)
        self.c, self.h = F.lstm(c, gates)
        return self.h


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


@pytest.mark.parametrize('backprop', [True, False])
@pytest.mark.parametrize('change', CHANGES, ids=lambda f: f.__name__)
def test_lstm_sees(change, backprop, device):
    links = []
    for cls in (L.LSTM, Plain):
        np.random.seed(0)
        link = cls(3, 2)
        link.to_device(device)
        links.append(link)
    x = device.send(X)
    with chainer.using_config('enable_backprop', backprop):
        before = [[to_numpy(link(x)) for _ in range(2)][-1] for link in links]
        for link in links:
            np.random.seed(1)
            change(link)
        after = [to_numpy(link(x)) for link in links]
    np.testing.assert_array_equal(before[0], before[1])
    np.testing.assert_array_equal(after[0], after[1])
    assert np.abs(after[0] - before[0]).max() > 1e-3


def test_lstm_sees_a_patched_class(monkeypatch):
    link = L.LSTM(3, 2)
    link(X)
    forward = L.Linear.forward
    monkeypatch.setattr(L.Linear, 'forward', lambda self, x: forward(self, x) * 0)
    np.testing.assert_array_equal(link.upward(X).array, 0)
    c = link.c.array
    np.testing.assert_allclose(link(X).array, 0.5 * np.tanh(0.5 * c), rtol=1e-6)


def test_lstm_is_made_of_its_functions(device):
    link = L.LSTM(3, 2)
    link.to_device(device)
    x = device.send(X)
    link(x)
    y = link(x)
    gates = y.creator.inputs[1].creator
    assert [type(f).__name__ for f in (y.creator, gates)] == ['LSTM', 'Add']
    assert [v.creator.label for v in gates.inputs] == ['LinearFunction', 'LinearFunction']
    with chainer.function_hooks.TimerHook() as hook:
        link(x)
    assert [name for name, _ in hook.call_history] == [
        'LinearFunction',
        'LinearFunction',
        'Add',
        'LSTM',
    ]
    with link_hooks.TimerHook() as hook:
        link(x)
    assert [name for name, _ in hook.call_history] == ['Linear', 'Linear', 'LSTM']


def test_lstm_errors_name_the_layer():
    link = L.LSTM(3, 2)
    link(X)
    with pytest.raises(type_check.InvalidType) as error:
        link(X[:, :2])
    assert any('/upward' in note for note in getattr(error.value, '__notes__', [str(error.value)]))
    assert link.h.shape == (4, 2)


def test_lstm_of_other_inputs():
    link = L.LSTM(3, 2)
    y = link(X)
    np.testing.assert_array_equal(link(X[:2]).array.shape, (2, 2))
    assert link.h.shape == (4, 2)
    np.testing.assert_array_equal(link.h.array[2:], y.array[2:])
    with pytest.raises(TypeError, match='LSTM: x has 5 rows'):
        link(np.zeros((5, 3), 'f'))
    assert link(X.reshape(4, 3, 1)).shape == (4, 2)


def test_lstm_in_a_class_with_setters():
    """A state that a subclass looks after is set in its way."""

    class Watched(L.LSTM):
        def __setattr__(self, name, value):
            if name == 'h' and value is not None:
                seen.append(value)
            super().__setattr__(name, value)

    seen = []
    link = Watched(3, 2)
    ys = [link(X), link(X)]
    assert [a is b for a, b in zip(seen, ys, strict=True)] == [True, True]


def test_assignments_in_init_scope():
    class Net(chainer.Chain):
        def __setattr__(self, name, value):
            seen.append(name)
            super().__setattr__(name, value)

    seen = []
    net = Net()
    with net.init_scope():
        net.layer = L.Linear(3, 2)
        net.p = chainer.Parameter(X)
        net.number = 1
    assert [name for name in seen if not name.startswith('_')][-3:] == ['layer', 'p', 'number']
    assert [name for name, _ in net.namedparams()] == ['/p', '/layer/W', '/layer/b']
    with pytest.raises(AttributeError, match='cannot register a new link layer'), net.init_scope():
        net.layer = L.Linear(3, 2)
    links = chainer.ChainList()
    with pytest.raises(TypeError, match='cannot register a new link'), links.init_scope():
        links.layer = L.Linear(3, 2)


@pytest.mark.parametrize('backprop', [True, False])
def test_zoneout_sees_its_ratios(backprop, device):
    link = L.StatefulZoneoutLSTM(3, 2).to_device(device)
    x = device.send(X)
    with chainer.using_config('enable_backprop', backprop):
        link(x)
        h, c = link.h, link.c
        link.h_ratio = 1.0
        link.c_ratio = 0.0
        np.testing.assert_array_equal(to_numpy(link(x)), to_numpy(h))
        assert np.abs(to_numpy(link.c) - to_numpy(c)).max() > 1e-4
        link.h_ratio = 1.5
        with pytest.raises(ValueError, match=r'ratio is 1\.5'):
            link(x)
        np.testing.assert_array_equal(to_numpy(link.h), to_numpy(h))
        with chainer.using_config('train', False):
            link.h_ratio, link.c_ratio = 1, 1.0
            assert np.abs(to_numpy(link(x)) - to_numpy(h)).max() > 1e-4

    class Fixed(L.StatefulZoneoutLSTM):
        h_ratio = property(lambda self: 0.0, lambda self, value: None)

    link = Fixed(3, 2, 1.0, 1.0).to_device(device)
    link(x)
    h = link.h
    assert np.abs(to_numpy(link(x)) - to_numpy(h)).max() > 1e-6


@pytest.mark.parametrize('backprop', [True, False])
def test_trees_see(backprop, device):
    """Other numbers of children; layers that a class has of its own; other numbers of units."""

    class Doubled(L.NaryTreeLSTM):
        @property
        def W_h2(self):
            return lambda h: self.W_h1(h) * 0

        @W_h2.setter
        def W_h2(self, layer):
            pass

    x, c = (device.send(X[:, :n].copy()) for n in (3, 2))
    with chainer.using_config('enable_backprop', backprop):
        link = L.ChildSumTreeLSTM(3, 2).to_device(device)
        for n in (1, 5, 0, 30):
            states = link(*[c] * 2 * n, x)
            gates = link.W_x(x)
            aio, forget = F.split_axis(gates, [6], 1)
            if n:
                aio = aio + link.W_h_aio(device.send(X[:, :2] * n))
            a, i, o = (y for y in F.split_axis(aio, 3, 1))
            cell = F.tanh(a) * F.sigmoid(i)
            if n:
                cell = cell + F.sigmoid(forget + link.W_h_f(c)) * c * n
            expected = cell, F.sigmoid(o) * F.tanh(cell)
            for y, e in zip(states, expected, strict=True):
                np.testing.assert_allclose(to_numpy(y), to_numpy(e), 1e-5, 1e-6)
        link.state_size = 1
        with pytest.raises((type_check.InvalidType, ValueError)):
            link(c, c, x)
        pair = L.NaryTreeLSTM(3, 2).to_device(device)
        h0, h1 = (to_numpy(pair(c, c, c, h, x)[1]) for h in (c, device.send(X[:, 1:].copy())))
        assert np.abs(h0 - h1).max() > 1e-4
        pair.__class__ = Doubled
        h0, h1 = (to_numpy(pair(c, c, c, h, x)[1]) for h in (c, device.send(X[:, 1:].copy())))
        np.testing.assert_array_equal(h0, h1)


def test_trees_take_arrays_in_graphs_of_chainerx():
    x, c = chainerx.array(X), chainerx.array(X[:, :2].copy())
    h = chainerx.array(X[:, :2].copy()).require_grad()
    for link in (L.ChildSumTreeLSTM(3, 2), L.NaryTreeLSTM(3, 2, 1)):
        link.to_chx()
        h.cleargrad()
        _, y = link(c, h, x)
        F.sum(y).backward()
        assert np.abs(chainerx.to_numpy(h.grad)).max() > 0


# ---- whole sequences ----------------------------------------------------------------------------


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
    """The same by the function that takes steps, one sequence after the other."""
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


def test_sequences_that_go_while_they_are_looked_at():
    """`init_hx` may do anything, to the list of sequences, too."""

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


# ---- what is no variable ------------------------------------------------------------------------


@pytest.mark.parametrize('convert', [chainerx.array, np.array], ids=['chainerx', 'numpy'])
@pytest.mark.parametrize('backprop', [True, False])
def test_array_that_comes_back(convert, backprop):
    """A function that returns its input has a variable of its own for an array of the user's."""
    x = convert(X)
    with chainer.using_config('enable_backprop', backprop), chainer.using_config('train', False):
        y = F.dropout(x)
        assert y.array is x
    (y * 2).backward(retain_grad=True)
    z = y * y
    z.grad = convert(np.ones_like(X))
    z.backward()
    if isinstance(x, chainerx.ndarray):
        assert not x.is_backprop_required()
        assert not (x * 2).is_backprop_required()
    np.testing.assert_array_equal(to_numpy(x), X)


def test_array_in_a_graph_of_chainerx():
    x = chainerx.array(X).require_grad()
    for backprop in (True, False):
        with chainer.using_config('enable_backprop', backprop):
            y = F.linear(x, chainerx.array(X), None)
            assert y.requires_grad
            assert not y.array.is_backprop_required()
            assert (y.creator is not None) == backprop
    y = F.linear(x, chainerx.array(X), None)
    y.grad = chainerx.ones_like(y.array)
    y.backward()
    np.testing.assert_allclose(to_numpy(x.grad), np.ones((4, 4)) @ X, 1e-6)


@pytest.mark.parametrize('kind', ['matrix', 'uninitialized', 'axes', 'list', 'too few'])
def test_linear_of_what_is_no_matrix(kind):
    link = L.Linear(None if kind == 'uninitialized' else 3, 2)
    if kind == 'axes':
        assert link(X.reshape(4, 3, 1)).shape == (4, 2)
        assert link(X.reshape(2, 2, 3), n_batch_axes=2).shape == (2, 2, 2)
    elif kind == 'list':
        with pytest.raises((TypeError, AttributeError)):
            link(X.tolist())
    elif kind == 'too few':
        with pytest.raises(type_check.InvalidType):
            link(X[0])
    else:
        assert link(X).shape == (4, 2)
        assert link.W.shape == (2, 3)
    with pytest.raises(TypeError, match='of_matrices'):
        F.connection.linear.LinearFunction.call.of_matrices(X)
