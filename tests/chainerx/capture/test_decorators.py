"""`chainerx.capture` as a decorator of whatever can be called."""

import copy
import inspect
import pickle

import chainerx as chx
import pytest


class Owner:
    rate = 2.0

    @chx.capture
    def method(self, x, scale=1.0):
        """Scales."""
        return x * self.rate * scale

    @chx.capture
    @staticmethod
    def static(x):
        return x * 3.0

    @staticmethod
    @chx.capture
    def outer_static(x):
        return x * 4.0

    @chx.capture(variants=3)
    @classmethod
    def of_class(cls, x):
        return x * cls.rate

    @classmethod
    @chx.capture
    def outer_of_class(cls, x):
        return x * cls.rate


class Heir(Owner):
    rate = 5.0


@chx.capture
def function(x, /, *, rate=6.0):
    """Scales, too."""
    return x * rate


def run(step, **options):
    results = [step(chx.ones(2), **options).tolist() for _ in range(6)]
    assert all(y == results[0] for y in results)
    return results[0][0]


def test_methods_of_all_kinds():
    assert run(Owner().method) == 2
    assert run(Heir().method, scale=2.0) == 10
    assert run(Owner.static) == run(Owner().static) == 3
    assert run(Owner.outer_static) == 4
    assert [run(Owner.of_class), run(Heir.of_class), run(Heir().of_class)] == [2, 5, 5]
    assert [run(Owner.outer_of_class), run(Heir.outer_of_class)] == [2, 5]
    assert Owner.static.info()[0].replays > 5


def test_what_functions_say_of_themselves():
    assert str(inspect.signature(function)) == '(x, /, *, rate=6.0)'
    assert str(inspect.signature(Owner().method)) == '(x, scale=1.0)'
    assert str(inspect.signature(Owner.method)) == '(self, x, scale=1.0)'
    assert function.__doc__ == 'Scales, too.'
    assert repr(function) == '<captured function function>'
    assert repr(Owner().method).startswith('<captured function Owner.method of <')
    owner = Owner()
    assert owner.method == owner.method != Owner().method
    assert len({owner.method, owner.method}) == 1
    assert owner.method.__self__ is owner
    assert Owner().method.__wrapped__ is Owner.method.__wrapped__


def test_copies():
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function
    owner = Owner()
    assert run(owner.method) == 2
    owner.rate = 7.0
    for other in (copy.deepcopy(owner.method), pickle.loads(pickle.dumps(owner.method))):
        assert run(other) == 7
        assert other is not owner.method
    step = chx.capture(abs)
    assert pickle.loads(pickle.dumps(step)).__wrapped__ is abs


async def coroutine(x):
    return x


def generator(x):
    yield x


async def asynchronous_generator(x):
    yield x


@pytest.mark.parametrize('f', [coroutine, generator, asynchronous_generator])
def test_what_a_call_does_not_run(f):
    name = f.__name__.replace('_', ' ')
    with pytest.raises(TypeError, match=f'step is an? {name} function, a call of which'):
        chx.capture(f)


def test_instances_without_weak_references():
    class Small:
        __slots__ = ()
        step = Owner.__dict__['method']

    with pytest.raises(TypeError, match='Small has __slots__ without __weakref__'):
        _ = Small().step


def test_a_captured_function_inside_of_another():
    w = chx.ones(2).require_grad()

    @chx.capture
    def inner(x):
        (w * x).sum().backward()
        return x * 2

    @chx.capture
    def outer(x):
        w.cleargrad()
        return inner(x) + inner(x * 3)

    for i in range(8):
        assert outer(chx.full((2,), i, 'float32')).tolist() == [8 * i] * 2
        assert w.grad.tolist() == [4 * i] * 2
    assert outer.info()[0].replays == 5
