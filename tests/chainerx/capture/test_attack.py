"""What a replay must not take for the same: gradients, empty arrays, values, and versions."""

import collections
import queue
import typing as tp

import chainerx as chx
import numpy as np
import pytest


def full(value, n=3):
    return chx.full((n,), value, 'float32')


def check(x, value):
    np.testing.assert_array_equal(chx.to_numpy(x), np.full(x.shape, value, x.dtype))


def replays(step):
    return sum(v.replays for v in step.info())


# ---- gradients that the step reads --------------------------------------------------------------


def test_a_gradient_that_is_returned():
    w = full(1).require_grad()
    w.grad = full(2)
    step = chx.capture(lambda x: (w.grad, x + 1))
    for i in range(8):
        if i == 5:
            w.grad = full(7)
        g, y = step(full(i))
        check(g, 7 if i >= 5 else 2)
        check(y, i + 1)
    g[...] = 9
    check(w.grad, 9)
    assert replays(step) > 1


def test_a_gradient_that_is_written():
    w = full(1).require_grad()
    w.grad = full(0)

    def f(x):
        g = w.grad
        g += x
        return g * 2

    step, total = chx.capture(f), 0
    for i in range(12):
        if i == 5:
            w.grad, total = full(50), 50
        total += i
        check(step(full(i)), 2 * total)
        check(w.grad, total)
    assert replays(step) > 3


@pytest.mark.parametrize('first', [True, False])
def test_a_gradient_that_is_an_argument(first):
    w = full(1).require_grad()

    def f(x, g):
        (w * x).sum().backward()
        return g * 1, w.grad * 1

    step = chx.capture(f)
    w.grad = full(1)
    total = 1
    for i in range(12):
        g = w.grad if (i < 6) == first else full(100 + i)
        expected = chx.to_numpy(g, copy=True)
        total += i
        y, z = step(full(i), g)
        np.testing.assert_array_equal(chx.to_numpy(y), expected)
        check(z, total)


def test_two_gradients_that_are_one_array():
    a, b = full(1).require_grad(), full(1).require_grad()

    def f(x):
        return a.grad * x, b.grad * x

    step = chx.capture(f)
    for i in range(16):
        a.grad = full(i)
        b.grad = a.grad if i % 8 < 5 else full(2 * i)
        y, z = step(full(3))
        check(y, 3 * i)
        check(z, 3 * i if i % 8 < 5 else 6 * i)


def test_a_gradient_that_the_step_also_uses_by_itself():
    w = full(1).require_grad()
    own = full(2)
    w.grad = own
    step = chx.capture(lambda x: (w.grad * x, own * x))
    for i in range(12):
        if i == 6:
            w.grad = full(5)
        y, z = step(full(i))
        check(y, i * (5 if i >= 6 else 2))
        check(z, i * 2)


# ---- arrays without elements --------------------------------------------------------------------


@pytest.mark.parametrize(
    'f',
    [lambda x: x + 1, lambda x: x, lambda x: (x, x[:, :1] * 2), lambda x: x.sum(axis=0)],
    ids=['add', 'return', 'view', 'sum'],
)
def test_empty_arguments_are_all_the_same(f):
    step = chx.capture(f)
    for _ in range(6):
        x = chx.zeros((0, 3))
        for y, z in zip(chx_list(step(x)), chx_list(f(x)), strict=True):
            assert y.shape == z.shape
            np.testing.assert_array_equal(chx.to_numpy(y), chx.to_numpy(z))
    assert replays(step) == 3


def chx_list(y):
    return y if isinstance(y, tuple) else (y,)


# ---- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize('make', [float, np.float32, np.float64, np.float16, complex, np.complex64])
def test_zeros_of_both_signs_are_told_apart(make):
    step = chx.capture(lambda x, v: x / v.real.item() if hasattr(v, 'item') else x / v.real)
    for sign in (1, -1, 1, -1):
        for _ in range(4):
            check(step(full(1), make(sign * 0.0)), sign * np.inf)
    assert replays(step) == 2 + 8


def test_nan_of_numpy_is_like_itself():
    step = chx.capture(lambda x, v: x * 2)
    for _ in range(6):
        step(full(1), np.float32('nan'))
    assert replays(step) == 3


@pytest.mark.parametrize(
    ('first', 'second'),
    [
        (np.float32(1), np.float64(1)),
        (np.datetime64(1, 's'), np.datetime64(1, 'ms')),
        (np.str_('a'), np.str_('b')),
        (np.str_('a'), 'a'),
        (np.bool_(1), np.int8(1)),
        ({'a': 1}, collections.OrderedDict(a=1)),
        (collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=2, a=1)),
    ],
)
def test_values_of_several_types_are_told_apart(first, second):
    seen = queue.SimpleQueue()  # a list that grows would be seen
    step = chx.capture(lambda x, v: (seen.put(v), x + 1)[1])
    for value in (first, second):
        for _ in range(5):
            step(full(1), value)
    assert [type(seen.get()) for _ in range(seen.qsize())] == [type(first)] * 3 + [type(second)] * 3


def test_names_of_arguments_are_compared_whole():
    step = chx.capture(lambda **values: next(iter(values.values())) * len(next(iter(values))))
    for name in ('a\0b', 'a\0bc', 'a\0', 'ü'):
        for _ in range(4):
            check(step(**{name: full(1)}), len(name))


class Pair(tuple):
    """A tuple that is made of other arguments than its items."""

    __slots__ = ()

    def __new__(cls, a, b):
        return super().__new__(cls, (a, b))


class Typed(tp.NamedTuple):
    a: object
    b: object


@pytest.mark.parametrize('make', [Pair, Typed, lambda a, b: collections.OrderedDict(b=b, a=a)])
def test_results_in_containers_of_other_types(make):
    step = chx.capture(lambda x: make(x + 1, np.float32(2)))
    expected = make(1, 2)
    for i in range(6):
        y = step(full(i))
        assert type(y) is type(expected)
        if isinstance(y, dict):
            assert list(y) == list(expected)
            y.move_to_end('b')
            y = tuple(y.values())
        check(y[0], i + 1)
        assert y[1] == 2
        assert type(y[1]) is np.float32
    assert replays(step) == 3


# ---- counted writes -----------------------------------------------------------------------------


def write_to_argument(x, held):
    x += 1


def write_to_held(x, held):
    held[...] = x


def write_with_out(x, held):
    held *= x


def write_first_of_many(x, held):
    held[...] = x
    for _ in range(40):
        x = x * 2


@pytest.mark.parametrize(
    'write', [write_to_argument, write_to_held, write_with_out, write_first_of_many]
)
def test_graphs_see_what_a_replay_writes(write):
    held = full(0)
    step = chx.capture(lambda x: write(x, held))
    w = full(1).require_grad()
    for i in range(7):
        x = full(3)
        y = (w * (x if write is write_to_argument else held)).sum()
        step(x)
        with pytest.raises(chx.ChainerxError, match='backward: multiply: input 1'):
            y.backward()
        assert replays(step) == max(0, i - 2)


def test_graphs_see_what_a_replay_writes_to_gradients():
    w, v = full(1).require_grad(), full(1).require_grad()
    w.grad = full(1)

    def f(x):
        g = w.grad
        g += x

    step = chx.capture(f)
    for i in range(7):
        y = (v * w.grad).sum()
        step(full(i))
        with pytest.raises(chx.ChainerxError, match='backward: multiply: input 1'):
            y.backward()
    assert replays(step) == 4


def test_graphs_go_on_over_what_a_replay_only_reads():
    held = full(2)
    step = chx.capture(lambda x: held * x)
    w = full(1).require_grad()
    for _ in range(7):
        x = full(3)
        y = (w * x * held).sum()
        step(x)
        w.cleargrad()
        y.backward()
        check(w.grad, 6)
