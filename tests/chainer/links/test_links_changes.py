"""Changes between two calls of a link take effect, also where it computes in one function."""

from __future__ import annotations

import copy
import pickle
import threading
import traceback

import chainer
import chainerx
import numpy as np
import pytest
from chainer import functions as F
from chainer import link_hooks
from chainer import links as L
from chainer.utils import type_check
from devices import DEVICES, to_numpy
from links.recurrent_links import (
    FEW,
    STATEFUL,
    WAYS,
    arguments,
    children_of,
    class_of,
    draw,
    leaves,
    make,
    of_steps,
    reset,
)

X = np.arange(12, dtype='f').reshape(4, 3) / 6 - 1


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


def move(link):
    link.to_device('native:0' if link.xp is np else '@numpy')


def add_function_hook(link):
    chainer.function_hooks.TimerHook()
    link.add_hook(link_hooks.TimerHook())


def scale_call(link):
    child = children_of(link)[-1]

    class Scaled(type(child)):
        def __call__(self, x):
            return super().__call__(x) * 2

    if type(child) is L.Linear and child is not link:
        child.__class__ = Scaled


CHANGES = {
    'nothing': lambda link: None,
    'copy': lambda link: link.copy(),
    'deep': lambda link: link.copy('copy'),
    'deepcopy': copy.deepcopy,
    'pickle': lambda link: pickle.loads(pickle.dumps(link)),
    'reset': reset,
    'move': move,
    'hook': add_function_hook,
    'call': scale_call,
    'init_scope': lambda link: setattr(link, '_within_init_scope', False),
}


@pytest.mark.parametrize('change', CHANGES)
@pytest.mark.parametrize('name', FEW)
def test_changes_between_calls(name, change):
    by_layers, at_once = of_steps(name, CHANGES[change])
    for x, y in zip(by_layers, at_once, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize('name', FEW)
def test_patched_classes(name, monkeypatch):
    expected = of_steps(name)[1]
    forward = L.Linear.forward
    cls = type(make(name))
    with monkeypatch.context() as m:
        m.setattr(L.Linear, 'forward', lambda self, x: forward(self, x) * 0)
        if cls is L.Linear:
            assert not of_steps(name)[1][0].any()
        assert any((x != y).any() for x, y in zip(of_steps(name)[1], expected, strict=True))
    with monkeypatch.context() as m:
        m.setattr(cls, 'forward', lambda self, *args: chainer.Variable(np.zeros(1, 'f')))
        assert of_steps(name)[1] == [0]
    seen = []
    call = chainer.Link.__call__

    def watched(self, *args, **kwargs):
        seen.append(type(self))
        return call(self, *args, **kwargs)

    with monkeypatch.context() as m:
        m.setattr(chainer.Link, '__call__', watched)
        of_steps(name)
        assert cls in seen
    for x, y in zip(of_steps(name)[1], expected, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize('name', FEW)
def test_calls_of_other_classes(name):
    """`__call__` overridden in a base class or subclass of a link is called."""
    base = class_of(name)

    class Mixin(chainer.Link):
        def __call__(self, *args):
            seen.append('mixin')
            return super().__call__(*args)

    class Above(base):
        def __call__(self, *args, **kwargs):
            seen.append('above')
            return super().__call__(*args, **kwargs)

    class Behind(base, Mixin):
        pass

    class Both(Above, Mixin):
        pass

    seen = []
    expected = of_steps(name)[1]
    for cls, calls in ((Above, ['above']), (Behind, ['mixin']), (Both, ['above', 'mixin'])):
        found = of_steps(name, lambda link, cls=cls: setattr(link, '__class__', cls))
        assert seen == 2 * calls
        seen.clear()
        for x, y in zip(found[1], expected, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize('name', FEW)
def test_bases_behind_link(name):
    """`__call__` of a base class that is not a link takes precedence over `forward`, as in v7."""

    class Layer:
        def __call__(self, *args):
            return len(args)

    class Mixin(chainer.Link):
        def __call__(self, *args):
            return 'mixin', super().__call__(*args)

    class Mine(class_of(name), Layer):
        pass

    class Mixed(class_of(name), Mixin, Layer):
        pass

    link = make(name)
    args = arguments(link)
    link.__class__ = Mine
    assert link(*args) == len(args)
    link.__class__ = Mixed
    assert link(*args)[0] == 'mixin'


def test_hooks_that_add_hooks():
    class Adding(chainer.LinkHook):
        name = 'adding'

        def forward_preprocess(self, args):
            seen.append(args.link.name)
            if args.link is link and not link.lateral.local_link_hooks:
                link.lateral.add_hook(Adding(), 'mine')

    seen = []
    link = make('LSTM')
    x = draw(link, 2, 3)
    link(x)
    link.add_hook(Adding())
    y = link(x)
    assert seen == [None, 'lateral']
    link.delete_hook('adding')
    link(x)
    assert seen == [None, 'lateral', 'lateral']
    link.lateral.delete_hook('mine')
    link.set_state(*(chainer.Variable(v.array) for v in (link.c, y)))
    link(x)
    assert len(seen) == 3


def test_function_hooks_see_all_functions():
    found = []
    for scope in WAYS.values():
        link = make('StatefulPeepholeLSTM')
        np.random.seed(1)
        link(*arguments(link))
        hook = chainer.function_hooks.TimerHook()
        with scope(), hook, chainer.no_backprop_mode():
            link(*arguments(link))
        found.append([name for name, _ in hook.call_history])
    assert found[0] == found[1]
    assert len(found[0]) > 10


@pytest.mark.parametrize('name', FEW)
def test_threads(name):
    """Threads may call links of their own, and share one without state."""
    shared = make(name)
    np.random.seed(1)
    args = arguments(shared)
    seed = 4
    with chainer.using_config('train', False):
        expected = [to_numpy(v) for v in leaves(make(name)(*args))]
        expected_again = [to_numpy(v) for v in leaves(shared(*args))]
    failures = []

    def work():
        try:
            with chainer.using_config('train', False), chainer.no_backprop_mode():
                own = copy.deepcopy(shared)
                for _ in range(50):
                    reset(own)
                    link = own if name in STATEFUL else shared
                    for x, y in zip(leaves(link(*args)), expected, strict=True):
                        np.testing.assert_array_equal(to_numpy(x), y)
        except Exception:
            failures.append(traceback.format_exc())

    threads = [threading.Thread(target=work) for _ in range(seed)]
    for thread in threads:
        thread.start()
    with chainer.using_config('train', False):
        for _ in range(20):
            with link_hooks.TimerHook():
                make(name)(*args)
    for thread in threads:
        thread.join()
    assert not failures
    assert len(expected_again) == len(expected)


class Twice(L.Linear):
    def forward(self, x, n_batch_axes=1):
        return super().forward(x, n_batch_axes) * 2


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
    else:  # chainerx keeps arrays that require a gradient
        link.upward.W = chainer.Parameter(w.array * 2)


def write_array(link):
    link.upward.b.array[...] = 2


def remove_bias(link):
    link.upward.b = None


def add_hook(link):
    # After two calls of the layer its weight is divided by its largest singular value.
    link.upward.add_hook(link_hooks.SpectralNormalization(n_power_iteration=3))


CHANGES_OF_LAYERS = [
    replace_layer,
    assign_forward,
    assign_parameter,
    assign_array,
    write_array,
    remove_bias,
    add_hook,
]


class Plain(L.LSTM):
    """A plain implementation to compare with."""

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


@pytest.mark.parametrize('backprop', [True, False])
@pytest.mark.parametrize('change', CHANGES_OF_LAYERS, ids=lambda f: f.__name__)
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
    """Changes of a tree link are seen: number of children, layers of a subclass, units."""

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
