"""Loops over integers, bool and truth values, which each instruction set has its own of: ends of
ranges, blocks and vectors, with NumPy as the reference."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy

INTS = ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64']
REAL = ['bool', *INTS, 'float16', 'float32', 'float64']
DIVISIONS = ['floor_divide', 'remainder', 'fmod']
PAIRS = ['add', 'multiply', 'maximum', 'fmin', 'bitwise_xor', 'greater', 'logical_and']
ALONE = ['invert', 'abs', 'sign', 'square', 'bitwise_count', 'logical_not']
TOTALS = ['sum', 'prod', 'max', 'min', 'argmax', 'argmin', 'any', 'all', 'count_nonzero']


def check(got, expected):
    got = to_numpy(got)
    assert got.shape == expected.shape
    np.testing.assert_array_equal(got, expected)


def numbers(dtype, kind, n, rng):
    """Small numbers, ends of the range, or numbers near the limit of exact float64 division."""
    info = np.iinfo(dtype)
    if kind == 'small':
        return rng.integers(max(info.min, -9), 10, n).astype(dtype)
    if kind == 'ends':
        low = [info.min, info.min + 1, info.max - 1, info.max, 0, 1, 2]
        return rng.choice(np.array([*low, *([-1, -2] if info.min else [])], dtype), n)
    bits = int(kind)
    low, high = max(info.min, -(2**bits)), min(info.max, 2**bits)
    near = np.clip(rng.integers(-3, 4, n) + rng.choice([low, high], n).astype(object), low, high)
    return np.where(rng.integers(0, 2, n), near, rng.integers(low, high, n)).astype(dtype)


@pytest.mark.parametrize('kind', ['small', 'ends', '49', '50', '53', '62'])
@pytest.mark.parametrize('dtype', INTS)
def test_pairs(dtype, kind):
    rng = np.random.default_rng(len(kind))
    for n in (1, 63, 64, 65, 127, 128, 129, 300):
        a, b = numbers(dtype, kind, n, rng), numbers(dtype, kind, n, rng)
        x, y = chx.array(a), chx.array(b)
        with np.errstate(all='ignore'):
            for name in DIVISIONS + PAIRS:
                op, ref = getattr(chx, name), getattr(np, name)
                check(op(x, y), ref(a, b))
                check(op(x[::-1], y), ref(a[::-1], b))
                check(op(x, int(b[0])), ref(a, b[0]))
                check(op(int(a[0]), y), ref(a[0], b))
            x //= y
            check(x, a // b)
            y %= x
            check(y, b % (a // b))


@pytest.mark.parametrize('dtype', INTS)
def test_powers(dtype):
    rng = np.random.default_rng(3)
    for n in (1, 64, 65, 200):
        a = numbers(dtype, 'ends', n, rng)
        k = rng.integers(0, 70, n).astype(dtype)
        x = chx.array(a)
        check(chx.power(x, chx.array(k)), a**k)
        check(chx.power(x, chx.array(k[0])), a ** k[0])
        check(chx.power(chx.array(a[0]), chx.array(k)), a[0] ** k)
    if dtype.startswith('int'):
        base = np.array([-3, -2, -1, 0, 1, 2, 3], dtype)
        for k in (-1, -2, np.iinfo(dtype).min):
            odd = -1 if k % 2 else 1
            check(
                chx.power(chx.array(base), chx.array(np.array(k, dtype))),
                np.array([0, 0, odd, 0, 1, 0, 0], dtype),
            )


@pytest.mark.parametrize('dtype', ['bool', *INTS])
def test_one_operand(dtype):
    rng = np.random.default_rng(4)
    for n in (1, 15, 64, 65, 1000):
        a = (rng.random(n) < 0.5) if dtype == 'bool' else numbers(dtype, 'ends', n, rng)
        for name in ALONE if dtype != 'bool' else ['invert', 'logical_not', 'bitwise_count']:
            check(getattr(chx, name)(chx.array(a)), getattr(np, name)(a))
            check(getattr(chx, name)(chx.array(a)[::-1]), getattr(np, name)(a[::-1]))
    if dtype == 'bool':
        for to in REAL:
            check(chx.array(a).astype(to), a.astype(to))


@pytest.mark.parametrize('dtype', INTS)
def test_totals(dtype):
    rng = np.random.default_rng(5)
    for shape in ((1,), (1023,), (1025,), (3, 70000), (2000, 3), (64, 33), (7, 9, 5)):
        a = numbers(dtype, 'ends', np.prod(shape), rng).reshape(shape)
        for x, ref in ((chx.array(a), a), (chx.array(a).T, a.T), (chx.array(a)[::-1], a[::-1])):
            for name in TOTALS:
                for axis in (None, *range(a.ndim)):
                    check(getattr(chx, name)(x, axis=axis), getattr(np, name)(ref, axis=axis))


@pytest.mark.parametrize('dtype', [*REAL, 'complex64'])
def test_truth_is_found_wherever_it_is(dtype):
    for n in (1, 64, 1024, 1025, 5000, 200001):
        for place in {0, n // 2, n - 1}:
            a = np.zeros(n, dtype)
            a[place] = 1
            x = chx.array(a)
            assert chx.any(x)
            assert not chx.any(x[:place])
            assert not chx.any(x[place + 1 :])
            assert chx.all(x == x)
            assert not chx.all(x != 1)
            assert int(chx.count_nonzero(x)) == 1
            if dtype != 'complex64':
                assert int(chx.argmax(x)) == place
                assert int(chx.nanargmax(x)) == place


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize('name', ['nanmax', 'nanmin'])
@pytest.mark.filterwarnings('ignore:All-NaN slice')
def test_extremes_without_nan(name, dtype):
    rng = np.random.default_rng(6)
    for shape in ((5,), (1030,), (70000,), (40, 33), (3, 70000)):
        for share in (0, 0.1, 0.99, 1):
            a = rng.standard_normal(shape).astype(dtype)
            a[rng.random(shape) < share] = np.nan
            for x, ref in ((chx.array(a), a), (chx.array(a).T, a.T)):
                for axis in (None, *range(a.ndim)):
                    expected = getattr(np, name)(ref, axis=axis)
                    check(getattr(chx, name)(x, axis=axis), np.asarray(expected))


def test_gradient_of_an_extreme_without_nan():
    x = chx.array([[1, np.nan, 3, 3], [np.nan] * 4], 'float32').require_grad()
    chx.nanmax(x, axis=1)[0].backward()
    check(x.grad, np.array([[0, 0, 0.5, 0.5], [0] * 4], 'float32'))


@pytest.mark.parametrize('bitorder', ['big', 'little'])
@pytest.mark.parametrize('dtype', ['bool', 'uint8', 'int64'])
def test_packed_bits(dtype, bitorder):
    rng = np.random.default_rng(7)
    for shape in ((0,), (1,), (8,), (63,), (64,), (65,), (200003,), (9, 70), (70, 9), (3, 0)):
        a = (rng.integers(0, 3, shape)).astype(dtype)
        for axis in (None, *range(a.ndim)):
            expected = np.packbits(a != 0, axis=axis, bitorder=bitorder)
            check(chx.packbits(chx.array(a), axis=axis, bitorder=bitorder), expected)
            for x, ref in ((chx.array(expected), expected), (chx.array(expected).T, expected.T)):
                for count in (
                    (None, 3, -2) if ref.size else ()
                ):  # NumPy leaves results unwritten for empty inputs
                    got = chx.unpackbits(x, axis=axis, count=count, bitorder=bitorder)
                    check(got, np.unpackbits(ref, axis=axis, count=count, bitorder=bitorder))


@pytest.mark.parametrize('dtype', ['bool', *INTS])
def test_counts(dtype):
    rng = np.random.default_rng(8)
    for n in (1, 5, 1000, 300000):
        for high in (1, 2, 100, 4096, 5000, 30000):
            most = 2 if dtype == 'bool' else min(high, np.iinfo(dtype).max)
            a = rng.integers(0, most, n).astype(dtype)
            w = rng.integers(0, 9, n).astype('float32')
            check(chx.bincount(chx.array(a)), np.bincount(a.astype('int64')))
            check(chx.bincount(chx.array(a)[::-2]), np.bincount(a.astype('int64')[::-2]))
            got = chx.bincount(chx.array(a), weights=chx.array(w))
            check(got, np.bincount(a.astype('int64'), weights=w).astype('float32'))


def test_sums_in_float64():
    for n in (1, 1000, 70001):
        a = np.random.default_rng(n).standard_normal(n).astype('float32')
        exact = a.astype('float64')
        x = chx.array(a).require_grad()
        total = chx.sum(x, dtype='float64')
        assert abs(float(total) - exact.sum()) <= 1e-12 * n
        assert abs(float(chx.mean(x, dtype='float64')) - exact.mean()) <= 1e-12
        chx.backward(total)
        assert x.grad.dtype == 'float32'
        check(x.grad, np.ones(n, 'float32'))
