"""Arrays that a step keeps for its next call: in attributes, items, and variables."""

import collections
import dataclasses
import functools
import gc
import itertools
import types
import weakref

import chainerx as chx
import numpy as np
import pytest

KEPT = None


class Slots:
    __slots__ = ('v',)


class Plain:
    shared = None

    def __init__(self):
        self.v = chx.zeros(3)


def gradient(i):
    return chx.array([i, 1.0, 0.5 * i])


def call_all(step, n):
    for i in range(n):
        step(gradient(i + 1))


def replays(step):
    return sum(variant.replays for variant in step.info())


def on_object(attribute='v', make=Plain):
    owner = make()
    setattr(owner, attribute, chx.zeros(3))

    def step(g):
        setattr(owner, attribute, 0.9 * getattr(owner, attribute) + g)
        return getattr(owner, attribute) * 2

    return step, lambda: getattr(owner, attribute), lambda v: setattr(owner, attribute, v)


def in_slots():
    owner = Slots()
    owner.v = chx.zeros(3)

    def step(g):
        owner.v = 0.9 * owner.v + g
        return owner.v.sum()

    return step, lambda: owner.v, lambda v: setattr(owner, 'v', v)


def in_property():
    class Guarded:
        def __init__(self):
            self._v = chx.zeros(3)

        @property
        def v(self):
            return self._v

        @v.setter
        def v(self, value):
            assert isinstance(value, chx.ndarray)
            self._v = value

    owner = Guarded()

    def step(g):
        owner.v = 0.9 * owner.v + g

    return step, lambda: owner.v, lambda v: setattr(owner, 'v', v)


def in_class():
    class Counted:
        v = chx.zeros(3)

    def step(g):
        Counted.v = 0.9 * Counted.v + g
        return Counted().v + 1

    return step, lambda: Counted.v, lambda v: setattr(Counted, 'v', v)


def in_list():
    kept = [chx.zeros(3), chx.ones(3)]

    def step(g):
        for i in range(2):
            kept[i] = kept[i - 1] * 0.5 + g
        return kept[0]

    return step, lambda: kept[1], lambda v: kept.__setitem__(1, v)


def in_dict():
    kept = {'a': {'b': chx.zeros(3)}}

    def step(g):
        kept['a']['b'] = kept['a']['b'] * 0.5 + g
        return g

    return step, lambda: kept['a']['b'], lambda v: kept['a'].__setitem__('b', v)


def in_variable():
    kept = chx.zeros(3)

    def step(g):
        nonlocal kept
        kept = kept * 0.5 + g
        return kept * g

    def put(v):
        nonlocal kept
        kept = v

    return step, lambda: kept, put


def in_global():
    global KEPT
    KEPT = chx.zeros(3)

    def step(g):
        global KEPT
        KEPT = KEPT * 0.5 + g
        return KEPT + 1

    return step, lambda: KEPT, lambda v: globals().__setitem__('KEPT', v)


def in_tuple():
    owner = Plain()
    owner.pair = chx.zeros(3), [chx.ones(3), None]

    def step(g):
        h, (c, _) = owner.pair
        owner.pair = 0.5 * c + g, [h * 2, None]
        return h + c

    return step, lambda: owner.pair[0], lambda v: setattr(owner, 'pair', (v, [v + 1, None]))


@dataclasses.dataclass
class Pair:
    h: chx.ndarray
    c: chx.ndarray


def in_dataclass():
    owner = Plain()
    owner.pair = Pair(chx.zeros(3), chx.ones(3))

    def step(g):
        owner.pair = Pair(0.5 * owner.pair.c + g, owner.pair.h * 2)
        return owner.pair.h * 2

    return step, lambda: owner.pair.h, lambda v: setattr(owner, 'pair', Pair(v, v + 1))


PLACES = {
    'object': on_object,
    'namespace': functools.partial(on_object, make=types.SimpleNamespace),
    'dynamic name': functools.partial(on_object, 'any'),
    'slots': in_slots,
    'property': in_property,
    'class': in_class,
    'list': in_list,
    'dict': in_dict,
    'variable': in_variable,
    'global': in_global,
    'tuple': in_tuple,
    'dataclass': in_dataclass,
}


def run(place, captures, calls=12):
    step, get, put = PLACES[place]()
    called = chx.capture(step) if captures else step
    seen = []
    for i in range(calls):
        if i == 7:
            put(chx.full(3, 5.0, 'float64'))
        y = called(gradient(i))
        seen.append((None if y is None else y.tolist(), get().tolist()))
    return seen, replays(called) if captures else 0


@pytest.mark.parametrize('place', PLACES)
def test_a_state_is_carried(place):
    expected, _ = run(place, False)
    seen, n = run(place, True)
    assert seen == expected
    assert n == 12 - 4


def test_states_of_several_kinds():
    owner, other = Plain(), Plain()

    def make(owner):
        def step(g):
            if owner.v is None:
                owner.v = chx.zeros(g.shape)
            owner.v = owner.v * 0.5 + g
            return owner.v + 1

        return step

    plain, captured = make(other), chx.capture(make(owner))
    for i in range(40):
        if i % 10 == 0:
            owner.v = other.v = None
        if i % 10 == 5:
            owner.v, other.v = (x.v.astype('float32') for x in (owner, other))
        g = gradient(i) if i < 20 else chx.concatenate([gradient(i)] * 2)
        assert captured(g).tolist() == plain(g).tolist()
        assert owner.v.dtype == other.v.dtype
        assert owner.v.tolist() == other.v.tolist()
    assert replays(captured) > 20


def test_one_array_in_two_places():
    def make():
        a, b = Plain(), Plain()

        def step(g):
            if a.v is not b.v:
                a.v = a.v * 0.5 + b.v
            else:
                a.v = a.v + g
            b.v = b.v + a.v
            return a.v * b.v

        return a, b, step

    a, b, step = make()
    c, d, plain = make()
    captured = chx.capture(step)
    for i in range(20):
        if i in (5, 6, 11):
            a.v = b.v = chx.full(3, i)
            c.v = d.v = chx.full(3, i)
        if i == 8:  # overlapping in part
            (a.v, b.v), (c.v, d.v) = ((x[:3], x[1:]) for x in (chx.arange(4.0), chx.arange(4.0)))
        g = gradient(i)
        assert captured(g).tolist() == plain(g).tolist()
        assert (a.v.tolist(), b.v.tolist()) == (c.v.tolist(), d.v.tolist())
    assert replays(captured) > 4


def test_places_that_are_swapped_cleared_and_left_as_they_are():
    def make():
        owner = Plain()
        owner.a, owner.b, owner.same, owner.gone = (chx.full(3, i) for i in range(4))

        def step(g):
            y = owner.a - owner.b + owner.same + owner.gone
            owner.a, owner.b = owner.b, owner.a + g
            owner.same = owner.same
            del owner.gone
            return y

        return owner, step

    owner, step = make()
    other, plain = make()
    captured = chx.capture(step)
    for i in range(10):
        owner.gone, other.gone = gradient(i), gradient(i)
        assert captured(gradient(i)).tolist() == plain(gradient(i)).tolist()
        for name in ('a', 'b', 'same'):
            assert getattr(owner, name).tolist() == getattr(other, name).tolist()
        assert not hasattr(owner, 'gone')
    assert replays(captured) == 10 - 4


@pytest.mark.parametrize('form', ['returned', 'put elsewhere', 'a view is', 'in a tuple'])
def test_what_is_only_passed_on_is_read(form):
    def run(captures):
        kept = {'a': chx.zeros(3), 'b': chx.ones(3), 'c': None}

        def step(g):
            old = kept['b']
            if form == 'put elsewhere':
                kept['a'], kept['b'] = old, kept['a'] + g
                return kept['a']
            kept['b'] = g * 2
            if form == 'in a tuple':
                kept['c'] = (old, g + 1)
            return old[::-1] if form == 'a view is' else old

        called = chx.capture(step) if captures else step
        seen = []
        for i in range(12):
            y = called(gradient(i))
            seen.append((y.tolist(), kept['a'].tolist(), kept['b'].tolist()))
            if kept['c']:
                seen.append([x.tolist() for x in kept['c']])
            if i == 8:
                kept['b'] = chx.full(3, 7.0)
        return seen, replays(called) if captures else 0

    want, _ = run(False)
    got, n_replays = run(True)
    assert got == want
    assert n_replays >= 6


@pytest.mark.parametrize('is_read', [False, True])
def test_arguments_of_numpy_are_kept(is_read):
    owner = Plain()
    owner.v = {'last': np.zeros(3, 'float32'), 'all': ()}

    def step(x):
        y = chx.array(x) * 2
        if is_read:
            y -= chx.array(owner.v['last'])
        owner.v['last'] = x
        owner.v['all'] = (x, None)
        return y

    called = chx.capture(step)
    for i in range(10):
        x = np.full(3, i, 'float32')
        before = owner.v['last'].copy()
        assert called(x).tolist() == (2 * x - before * is_read).tolist()
        x += 1  # it is the memory of the argument that is kept
        assert type(owner.v['last']) is np.ndarray
        assert owner.v['last'].tolist() == owner.v['all'][0].tolist() == x.tolist()
        if i == 7:
            owner.v['last'] = np.full(3, -1, 'float32')
    assert replays(called) >= 5


def test_an_array_that_the_step_uses_by_itself_too():
    w = chx.ones(3)

    def make():
        owner = Plain()

        def step(g):
            y = w * 2 + owner.v + g
            owner.v = y
            return y

        return owner, step

    owner, step = make()
    other, plain = make()
    captured = chx.capture(step)
    for i in range(14):
        if i in (2, 6, 7, 8):
            owner.v = other.v = w
        g = gradient(i)
        assert captured(g).tolist() == plain(g).tolist()
    assert replays(captured) > 2


def test_leaves_stay_leaves():
    def make():
        owner = Plain()
        owner.v = chx.zeros(3).require_grad()

        def step(g):
            loss = (owner.v * owner.v * g).sum()
            loss.backward()
            grad = owner.v.grad
            owner.v = (owner.v.as_grad_stopped() + grad + g).require_grad()
            return grad

        return owner, step

    owner, step = make()
    other, plain = make()
    captured = chx.capture(step)
    for i in range(9):
        assert captured(gradient(i)).tolist() == plain(gradient(i)).tolist()
        assert owner.v.tolist() == other.v.tolist()
        assert owner.v.is_grad_required()
        assert owner.v.grad is None
    assert replays(captured) == 9 - 4


def test_a_graph_that_goes_on_is_refused():
    w = chx.ones(3).require_grad()
    owner = Plain()

    def step(g):
        owner.v = owner.v * w + g
        return owner.v.sum()

    captured = chx.capture(step)
    captured(gradient(0))
    for i in range(1, 4):
        with pytest.raises(chx.CaptureError, match=r'reads Plain\.v, and leaves .* Unchain it'):
            captured(gradient(i))
        assert owner.v.is_backprop_required()  # it has run as it is
    owner.v.sum().backward()
    other = chx.ones(3).require_grad()
    v = chx.zeros(3)
    for i in range(4):
        v = v * other + gradient(i)
    v.sum().backward()
    assert w.grad.tolist() == other.grad.tolist()


def test_a_graph_from_before_is_refused():
    w = chx.ones(3).require_grad()
    owner = Plain()

    def step(g):
        owner.v = owner.v.as_grad_stopped() * 2 + g

    captured = chx.capture(step)
    for i in range(6):
        captured(gradient(i))
    owner.v = w * 3
    captured(gradient(0))
    assert owner.v.tolist() == [6.0, 7.0, 6.0]
    assert not owner.v.is_backprop_required()

    def through(g):
        owner.v = (owner.v * g).as_grad_stopped()

    captured = chx.capture(through)
    for i in range(6):
        captured(gradient(i))
    owner.v = w * 3
    captured(gradient(1))
    owner.v = w * 3
    with pytest.raises(chx.CaptureError, match=r'reads Plain\.v, which is part of a graph'):
        captured(gradient(1))


def appended(kept=None):
    kept = [chx.zeros(3)]

    def step(g):
        kept.append(kept[-1] + g)

    return step


def in_queue():
    kept = collections.deque([chx.zeros(3)], maxlen=2)

    def step(g):
        kept.append(kept[-1] + g)

    return step


def in_new_object():
    owner = Plain()

    def step(g):
        v = owner.v.v if isinstance(owner.v, Plain) else owner.v
        owner.v = Plain()
        owner.v.v = v + g

    return step


NOT_CARRIED = {'list': appended, 'deque': in_queue, 'object': in_new_object}


@pytest.mark.parametrize('name', NOT_CARRIED)
def test_what_is_not_carried_is_refused(name):
    captured = chx.capture(NOT_CARRIED[name]())
    with pytest.raises(chx.CaptureError, match='still in use after the step'):
        call_all(captured, 3)


def test_ever_new_places_are_refused():
    kept = [chx.zeros(3, 'float64')] * 40
    n = 0

    def step(g):
        nonlocal n
        kept[n] = kept[n] + g
        n += 1

    captured = chx.capture(step)
    with pytest.raises(chx.CaptureError, match=r'item \d+ of a list, which is another place'):
        call_all(captured, 40)
    assert kept[10].tolist() == gradient(11).tolist()


def test_a_verified_state():
    step, get, _ = on_object()
    captured = chx.capture(step, verify=2)
    plain, expected, _ = on_object()
    for i in range(12):
        assert captured(gradient(i)).tolist() == plain(gradient(i)).tolist()
        assert get().tolist() == expected().tolist()
    assert replays(captured) == 12 - 4


def test_a_verified_state_that_differs():
    owner = Plain()
    calls = itertools.count()  # nobody sees what it will say next

    def step(g):
        owner.v = owner.v * 0.5 + g
        if next(calls) > 3:  # in each call that runs as it is
            owner.v = owner.v * 3

    captured = chx.capture(step, verify=6)
    with pytest.raises(chx.CaptureError, match=r'Plain\.v differs in 3 of 3 elements'):
        call_all(captured, 20)


def test_a_state_does_not_keep_what_has_it():
    class Model:
        def __init__(self):
            self.v = chx.zeros(3)
            self.step = chx.capture(self.run)

        def run(self, g):
            self.v = self.v + g

    model = Model()
    for i in range(8):
        model.step(gradient(i))
    assert replays(model.step) == 4
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
