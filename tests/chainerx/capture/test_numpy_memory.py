"""Memory and numbers of NumPy and of Python in a step: where they are, and constants."""

import re

import chainerx as chx
import numpy as np
import pytest


def replays(step):
    return sum(v.replays for v in step.info())


def call(step, n):
    for _ in range(n):
        step(chx.ones(3))


SHARED = {
    'asarray': chx.asarray,
    'view': lambda g: chx.asarray(g[1:]),
    'view of a view': lambda g: chx.asarray(g[::-1][1:]),
    'frombuffer': lambda g: chx.frombuffer(g, 'float32'),
    'from_dlpack': chx.from_dlpack,
    'copy': chx.array,
}


@pytest.mark.parametrize('name', SHARED)
@pytest.mark.parametrize('size', [5_000_000, 3, 40])
def test_an_array_that_numpy_resizes_in_place(name, size):
    share = SHARED[name]
    g = np.arange(100, dtype='f')

    def f(x):
        return (share(g) * 2).sum() + x

    x = chx.ones(1)
    step = chx.capture(f)
    for _ in range(5):
        assert step(x).tolist() == f(x).tolist()
    assert replays(step) == 2
    g.resize(size, refcheck=False)
    g[:] = 7
    for _ in range(5):
        assert step(x).tolist() == f(x).tolist()
    assert replays(step) == 4
    g[:] = 5
    assert step(x).tolist() == f(x).tolist()


def test_an_array_that_is_only_looked_at():
    def f(x):
        return x * chx.asarray(np.zeros(3, 'f')).shape[0]

    step = chx.capture(f)
    for _ in range(5):
        assert step(chx.ones(2)).tolist() == [3, 3]
    assert replays(step) == 2


CONSTANTS = {
    'array': lambda x: x + chx.array([1, 2, 3], 'float32'),
    'asarray': lambda x: x + chx.asarray(3.0) + chx.asarray((1, 2.0, True)),
    'number of NumPy': lambda x: x + chx.array(np.float32(2)) + chx.asarray([np.int8(1)] * 3),
    'operand': lambda x: chx.maximum(x, [0.5, 2, 3]),
    'index': lambda x: x[[2, 0]],
    'take': lambda x: chx.take(x, [2, 0], axis=0),
    'no elements': lambda x: chx.concatenate([x, chx.array([])]),
    'nested': lambda x: x + chx.array([[1, 2, 3]] * 2, 'float16'),
    'booleans': lambda x: x * chx.array([True, False, True]),
    'complex': lambda x: x * chx.array([1j, 2, 3]),
    'written': lambda x: chx.array([1, 2, 3], 'float32').at[1].add(x[0]),
}


@pytest.mark.parametrize('name', CONSTANTS)
def test_numbers_of_lists_are_constants(name):
    f = CONSTANTS[name]
    step = chx.capture(f)
    for i in range(6):
        x = chx.full((3,), i, 'float32')
        expected = f(x)
        y = step(x)
        assert y.dtype == expected.dtype
        np.testing.assert_array_equal(chx.to_numpy(y), chx.to_numpy(expected))
    assert replays(step) == 3


@pytest.mark.parametrize(
    ('dtype', 'was', 'now'),
    [
        ('float32', '3', '4'),
        ('float16', '3', '4'),
        ('bfloat16', '3', '4'),
        ('int8', '3', '4'),
        ('uint64', '3', '4'),
        ('complex64', '(3+0j)', '(4+0j)'),
    ],
)
def test_numbers_of_lists_that_differ_are_named(dtype, was, now):
    count = 0

    def f(x):
        nonlocal count
        count += 1
        return x + chx.array([0, count, 1], dtype)

    step = chx.capture(f)
    with pytest.raises(chx.CaptureError) as error:
        call(step, 6)
    assert re.search(
        rf'test_numpy_memory.py:{f.__code__.co_firstlineno + 3}\): element 1 was ', str(error.value)
    ), str(error.value)
    assert re.search(rf'was {re.escape(was)}, now {re.escape(now)}', str(error.value))


def test_a_list_with_arrays_is_no_constant():
    g = np.zeros(3, 'f')
    step = chx.capture(lambda x: x + chx.array([g, g], 'float32'))
    with pytest.raises(chx.CaptureError, match='an array of NumPy'):
        call(step, 6)
