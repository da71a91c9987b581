"""Dataclasses, and other objects, as arguments and results."""

import dataclasses
import queue
import typing as tp

import chainer
import chainerx as chx
import numpy as np
import pytest


def full(value, n=2):
    return chx.full((n,), value, 'float32')


def replays(step):
    return sum(v.replays for v in step.info())


@dataclasses.dataclass
class Plain:
    a: tp.Any
    b: tp.Any = 0.5
    kind: tp.ClassVar[str] = 'plain'
    made: dataclasses.InitVar[tp.Any] = None

    def __post_init__(self, made):
        self.posts = getattr(self, 'posts', 0) + 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: tp.Any
    b: tp.Any = 0.5


@dataclasses.dataclass(slots=True)
class Slots:
    a: tp.Any
    b: tp.Any = 0.5
    later: tp.Any = dataclasses.field(init=False)


@dataclasses.dataclass(eq=False, kw_only=True)
class ByIdentity:
    a: tp.Any
    b: tp.Any = 0.5


class Sub(Frozen):
    pass


T = tp.TypeVar('T')


@dataclasses.dataclass
class Generic(tp.Generic[T]):
    a: T
    b: tp.Any = 0.5


CLASSES = [Plain, Frozen, Slots, ByIdentity, Sub, Generic]


@pytest.mark.parametrize('cls', CLASSES)
def test_dataclasses_as_results(cls):
    step = chx.capture(lambda x: (cls(a=x + 1), [cls(a=None, b={'c': x * 2})]))
    kept = []
    for i in range(6):
        first, (second,) = step(full(i))
        assert type(first) is type(second) is cls
        assert first.a.tolist() == [i + 1] * 2
        assert first.b == 0.5
        assert second.a is None
        assert second.b['c'].tolist() == [2 * i] * 2
        assert getattr(first, 'posts', 1) == 1
        assert not hasattr(first, 'later')
        kept.append(first)
    assert [y.a.tolist()[0] for y in kept] == [1, 2, 3, 4, 5, 6]
    assert replays(step) == 3


@pytest.mark.parametrize('cls', CLASSES)
def test_dataclasses_as_arguments(cls):
    w = chx.ones(2).require_grad()

    def f(s, *, t):
        w.cleargrad()
        (w * s.a).sum().backward()
        return s.a * s.b + t.b['c'], w.grad * 1

    step = chx.capture(f)
    for i in range(6):
        for scale in (0.5, 2, True):
            s, t = cls(a=full(i), b=scale), cls(a=None, b={'c': full(3)})
            y, g = step(s, t=t)
            assert y.tolist() == [scale * i + 3] * 2
            assert g.tolist() == w.grad.tolist() == [i] * 2
    assert [v.replays for v in step.info()] == [3, 3, 3]
    assert step.info()[0].arguments == 'float32[2] float32[2]'


def test_dataclasses_of_several_types_are_told_apart():
    step = chx.capture(lambda s: s.a + (1 if type(s) is Plain else 2))
    for i in range(6):
        assert step(Plain(full(i))).tolist() == [i + 1] * 2
        assert step(Frozen(full(i))).tolist() == [i + 2] * 2
    assert replays(step) == 6


def test_arguments_in_dataclasses_are_named():
    step = chx.capture(lambda s: s.a)
    with pytest.raises(TypeError, match=r'capture: argument 0\[b\] is a set, which'):
        step(Slots(full(1), {1}))
    itself = Plain(full(1))
    itself.b = itself
    with pytest.raises(ValueError, match='nested too deeply'):
        step(itself)


@dataclasses.dataclass
class Table(dict):
    a: tp.Any


class Point:
    def __init__(self, x):
        self.x = x


@pytest.mark.parametrize('cls', [Point, Table])
def test_objects_with_arrays_are_named(cls):
    step = chx.capture(lambda x: (x, cls(x + 1)))
    step(full(0))
    with pytest.raises(chx.CaptureError, match=rf'still in use .* \(array, <.*{cls.__name__} obj'):
        step(full(0))


def test_links_that_are_dataclasses_are_objects():
    @dataclasses.dataclass(eq=False)
    class Net(chainer.Chain):
        size: int

        def __post_init__(self):
            super().__init__()
            with self.init_scope():
                self.w = chainer.Parameter(np.ones(self.size, 'f'))

    net = Net(2)
    net.to_chx()
    step = chx.capture(lambda net, x: net.w.array * x)
    for i in range(6):
        assert step(net, full(i)).tolist() == [i] * 2
    assert replays(step) == 3
    net.w.array[...] = full(3)
    assert step(net, full(2)).tolist() == [6, 6]


class Tagged(chainer.Variable):
    tag = 'none'


@pytest.mark.parametrize('xp', [np, chx])
def test_variables_of_other_classes(xp):
    def f(x):
        y = x * 2
        y.__class__ = Tagged  # the array of NumPy is not asked for
        y.tag, y.more = 'more', [x + 1]
        return y

    step = chx.capture(f)
    for i in range(6):
        y = step(chainer.Variable(xp.full((2,), i, 'f')))
        assert type(y) is Tagged
        assert isinstance(y.array, xp.ndarray)
        assert y.array.tolist() == [2 * i] * 2
        assert y.tag == 'more'
        assert y.more[0].array.tolist() == [i + 1] * 2
    assert replays(step) == 3


@pytest.mark.parametrize(
    ('first', 'second'),
    [
        (frozenset({True}), frozenset({1})),
        (frozenset({1}), frozenset({1.0})),
        (frozenset({0.0}), frozenset({-0.0})),
        (frozenset({(1, frozenset({2}))}), frozenset({(1, frozenset({2.0}))})),
        ({(1, 2): 0}, {(True, 2): 0}),
        ({1: 0}, {True: 0}),
        ((1,), (True,)),
        (Frozen(1), Frozen(True)),
        (Frozen((1,)), Frozen((1.0,))),
    ],
)
def test_equal_values_of_other_types_are_told_apart(first, second):
    assert first == second
    seen = queue.SimpleQueue()  # a counter would be seen

    def f(x, value):
        seen.put(repr(value))
        return x + 1

    step = chx.capture(f)
    for _ in range(5):
        for value in (first, second):
            step(full(1), value)
    values = [seen.get() for _ in range(seen.qsize())]
    assert sorted(values) == sorted([repr(first), repr(second)] * 3)
