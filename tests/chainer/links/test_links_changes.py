"""What changes between two calls of a link whose usual call is all in C++: whatever it is, the next
call sees it as it would in Python.
"""

from __future__ import annotations

import copy
import pickle
import threading
import traceback

import chainer
import numpy as np
import pytest
from chainer import link_hooks
from chainer import links as L
from devices import to_numpy
from links.usual_links import (
    LINKS,
    STATEFUL,
    UNITS,
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
@pytest.mark.parametrize('name', LINKS)
def test_changes_between_calls(name, change):
    python, short = of_steps(name, CHANGES[change])
    for x, y in zip(python, short, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize('name', LINKS)
def test_patched_classes(name, monkeypatch):
    expected = of_steps(name)[1]
    forward = L.Linear.forward
    cls = type(make(name))
    if cls is L.Linear or not hasattr(cls, 'n_cells'):
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


@pytest.mark.parametrize('method', ['rnn', 'init_hx'])
def test_patched_sequences(method, monkeypatch):
    link = make('NStepLSTM')
    args = arguments(link)
    expected = link(*args)
    old = getattr(L.NStepLSTM, method)
    seen = []

    def patched(self, *args):
        seen.append(method)
        return old(self, *args)

    with monkeypatch.context() as m:
        m.setattr(L.NStepLSTM, method, patched)
        for x, y in zip(leaves(link(*args)), leaves(expected), strict=True):
            np.testing.assert_allclose(x.array, y.array, 1e-5)
    assert seen
    assert link(*args)[2][0].shape == expected[2][0].shape


@pytest.mark.parametrize('name', STATEFUL)
def test_subclasses_with_states_of_their_own(name):
    """Properties and setters of a subclass see each state."""
    base = class_of(name)
    seen = []

    class Property(base):
        @property
        def h(self):
            return self.__dict__.get('other')

        @h.setter
        def h(self, value):
            seen.append(value)
            self.__dict__['other'] = value

    class Refusing(base):
        def __setattr__(self, key, value):
            if key == 'h' and self.__dict__.get('h') is not None:
                raise RuntimeError('not again')
            super().__setattr__(key, value)

    np.random.seed(0)
    link = Property(3, UNITS)
    x = draw(link, 2, 3)
    ys = [link(x) for _ in range(3)]
    assert [a is b for a, b in zip([v for v in seen if v is not None], ys, strict=True)] == [
        True
    ] * 3
    link = Refusing(3, UNITS)
    link(x)
    with pytest.raises(RuntimeError, match='not again'):
        link(x)


@pytest.mark.parametrize('name', LINKS)
def test_calls_of_other_classes(name):
    """`__call__` of a class between a link and Link, or above the link, is called as ever."""
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


@pytest.mark.parametrize('name', LINKS)
def test_bases_behind_link(name):
    """`__call__` of a base that is no link comes before `forward`, as in v7."""

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


# ---- hooks, threads -----------------------------------------------------------------------------


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


@pytest.mark.parametrize('name', LINKS)
def test_threads(name):
    """Links of several threads, and one that they share (where it keeps no state)."""
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
