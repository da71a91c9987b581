"""Sorting at every size at which the algorithm changes, and hard inputs."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from cases._promotion import ALL, COMPLEX, category
from cases._table import np_dtype, seeded

# Lengths of vectors, blocks of registers, samples, groups of rows; for keys of 32 and of 64 bits.
SIZES = [1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513]
SIZES += [1023, 1025, 2047, 2048, 2049, 4097, 8191, 8193, 16385]
PATTERNS = ['any', 'few', 'equal', 'ascending', 'descending', 'ends', 'odd']


def draw(dtype, n, pattern):
    """Values of a dtype; 'odd' has NaN, infinities, both zeros; 'ends' the ends of the range."""
    rng = seeded('sorting', dtype, n, pattern)
    kind = category(dtype)
    if kind == 3:
        x = np.empty(n, dtype)
        x.real = draw({'complex64': 'float32', 'complex128': 'float64'}[dtype], n, pattern)
        x.imag = x.real[::-1]
        return x
    if pattern == 'equal':
        return np.full(n, 1, np_dtype(dtype))
    if kind == 0:
        return rng.integers(0, 2, n).astype(bool)
    if kind == 1:
        info = np.iinfo(dtype)
        low, high = {'few': (0, 3), 'ends': (info.max - 2, info.max)}.get(
            pattern, (info.min, info.max)
        )
        x = rng.integers(low, high, n, dtype, endpoint=True)
        if pattern == 'ends':  # the upper halves have two different values
            x = np.where(rng.random(n) < 0.5, x, info.min + (info.max - x)).astype(dtype)
    elif pattern == 'odd':
        x = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5], n)
    elif pattern == 'few':
        x = rng.choice([0.0, 1.0, -3.0], n)
    elif pattern == 'ends':
        x = rng.choice([1.0, -1.0], n) * (1 + rng.integers(0, 9, n) * 2.0**-50)
    else:
        x = rng.normal(size=n)
    x = x.astype(np_dtype(dtype))
    ordered = in_order(comparable(x)).astype(x.dtype)
    return {'ascending': ordered, 'descending': ordered[::-1]}.get(pattern, x)


def comparable(x):
    """NumPy can't sort bfloat16 with NaN."""
    return x.astype('f4') if x.dtype.name == 'bfloat16' else x


def same(actual, expected, where):
    """The same values, NaN included."""
    actual, expected = comparable(to_numpy(actual)), comparable(expected)
    is_real = expected.dtype.kind in 'fc'
    assert np.array_equal(actual, expected, equal_nan=is_real), where


def in_order(x, axis=-1):
    """NumPy's stable sort; the default leaves float16 in disorder on some processors (2.4.6)."""
    return np.sort(x, axis, kind='stable')


def places_of(x, descending):
    x = comparable(x)
    if not descending:
        return np.argsort(x, kind='stable')
    return (len(x) - 1 - np.argsort(x[::-1], kind='stable'))[::-1]


@pytest.mark.parametrize('pattern', PATTERNS)
@pytest.mark.parametrize('dtype', ALL)
def test_every_size(dtype, pattern, device):
    for n in SIZES if pattern in ('any', 'odd', 'ends') else SIZES[-8:]:
        x = draw(dtype, n, pattern)
        y = chx.array(x, device=device)
        where = f'{dtype} {n} {pattern}'
        for descending in (False, True):
            places = places_of(x, descending)
            same(chx.argsort(y, descending=descending), places, where)
            same(chx.sort(y, descending=descending), x[places], where)
            if dtype not in COMPLEX:
                for k in {1, n // 3, n}:
                    taken = chx.topk(y, k, largest=descending)[1]
                    same(taken, places[:k], where)
                    taken = chx.topk(y, k, largest=descending, sorted=False)[1]
                    same(taken, np.sort(places[:k]), where)
        ordered = in_order(comparable(x)).astype(x.dtype)
        for k in {0, n // 2, n - 1}:
            parted = chx.partition(y, k)
            same(parted[k], ordered[k], where)
            same(chx.sort(parted[:k]), ordered[:k], where)
            same(chx.sort(parted[k:]), ordered[k:], where)
        for side in ('left', 'right'):
            found = chx.searchsorted(chx.array(ordered, device=device), y, side)
            same(found, np.searchsorted(comparable(ordered), comparable(x), side), where)


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float32', 'float64'])
def test_zeros_keep_their_order(dtype, device):
    x = seeded('zeros', dtype).choice([0.0, -0.0, 1.0, -1.0], 700).astype(np_dtype(dtype))
    for descending in (False, True):
        expected = np.signbit(x[places_of(x, descending)])
        actual = to_numpy(chx.sort(chx.array(x, device=device), descending=descending))
        np.testing.assert_array_equal(np.signbit(actual), expected)


@pytest.mark.parametrize('dtype', COMPLEX)
def test_complex_numbers_come_back_bit_by_bit(dtype, device):
    """Zeros of either sign, NaN in either part; with them, and without."""
    for values in ([1, -2, 0.5], [1, 0.0, -0.0], [np.nan, 1, -np.inf, 2]):
        rng = seeded('complex', dtype, *values)
        x = np.empty(700, dtype)
        x.real, x.imag = rng.choice(values, (2, 700))
        for descending in (False, True):
            actual = to_numpy(chx.sort(chx.array(x, device=device), descending=descending))
            assert actual.tobytes() == x[places_of(x, descending)].tobytes(), values


@pytest.mark.parametrize('pattern', PATTERNS)
@pytest.mark.parametrize('dtype', ['float32', 'float64', 'int32', 'uint32', 'int64', 'complex64'])
def test_long_rows(dtype, pattern, device):
    """They are split into four first."""
    for n in (1 << 16, 70_001):
        x = draw(dtype, n, pattern)
        for descending in (False, True):
            expected = x[places_of(x, descending)]
            same(chx.sort(chx.array(x, device=device), descending=descending), expected, n)


@pytest.mark.parametrize('dtype', ALL)
def test_isin_finds_few_and_many(dtype, device):
    """By comparison with each, by a table, by search; in chunks of the array."""
    for pattern in ('any', 'few', 'odd', 'ends'):
        x = draw(dtype, 5000, pattern)
        for m in (1, 3, 9, 17, 40, 70, 300, 3000):
            values = np.concatenate([x[:m], draw(dtype, m, 'odd')])
            for invert in (False, True):
                expected = np.isin(comparable(x), comparable(values), invert=invert)
                y, v = (chx.array(a, device=device) for a in (x, values))
                actual = to_numpy(chx.isin(y, v, invert=invert))
                np.testing.assert_array_equal(actual, expected, f'{pattern} {m}')


@pytest.mark.parametrize('dtype', ['int16', 'int32', 'uint64'])
def test_isin_of_integers_close_together(dtype, device):
    rng = seeded('near', dtype)
    x = rng.integers(0, 3000, 6000).astype(dtype)
    values = rng.integers(500, 2500, 400).astype(dtype)
    actual = to_numpy(chx.isin(chx.array(x, device=device), chx.array(values, device=device)))
    np.testing.assert_array_equal(actual, np.isin(x, values))


@pytest.mark.parametrize('dtype', ['int32', 'int64'])
def test_patterns_of_a_large_array(dtype, device):
    """Sorted runs, organ pipes, a period: inputs that pivots at fixed indices would split badly."""
    n = 100_003
    i = np.arange(n)
    patterns = [i, -i, i % 128, i // 1000, np.minimum(i, n - i), i * 7919 % n, (i * i) % 1009]
    # Close together, except for one; and at the ends of the range.
    patterns += [np.where(i == 77_777, -(10**9), i % 100)]
    patterns += [np.iinfo(dtype).min + i % 100, np.iinfo(dtype).max - i % 100]
    for x in patterns:
        x = x.astype(dtype)
        y = chx.array(x, device=device)
        same(chx.sort(y), in_order(x), dtype)
        same(chx.sort(y, descending=True), in_order(x)[::-1], dtype)
        same(chx.argsort(y), np.argsort(x, kind='stable'), dtype)
        same(chx.argsort(y, descending=True), places_of(x, True), dtype)
        for k in (0, 1, n // 2, n - 1):
            assert int(chx.partition(y, k)[k]) == in_order(x)[k]


@pytest.mark.parametrize('dtype', ['float32', 'int64'])
def test_rows_are_sorted_apart(dtype, device):
    """Several rows to a thread, several threads."""
    for shape in [(1000, 3), (300, 100), (7, 20000), (2, 3, 257)]:
        x = (seeded(shape).normal(size=shape) * 100).astype(dtype)
        y = chx.array(x, device=device)
        for axis in range(len(shape)):
            same(chx.sort(y, axis), in_order(x, axis), shape)
            same(chx.argsort(y, axis), np.argsort(x, axis, kind='stable'), shape)
            k = shape[axis] // 2
            expected = np.take(in_order(x, axis), k, axis)
            same(chx.take(chx.partition(y, k, axis), k, axis), expected, shape)


def numbered(x):
    """Integers in the order of the elements: equal elements have equal integers."""
    return np.unique(comparable(x), return_inverse=True)[1].reshape(x.shape)


def same_bits_of_zeros(actual, expected, where):
    """The same values, and zeros of the same signs."""
    same(actual, expected, where)
    if expected.dtype.kind not in 'biu':
        y, e = comparable(to_numpy(actual)), comparable(expected)
        assert (np.signbit(y) == np.signbit(e))[e == 0].all(), where


@pytest.mark.parametrize('pattern', ['any', 'few', 'odd'])
@pytest.mark.parametrize('dtype', [d for d in ALL if d not in COMPLEX])
def test_short_rows(dtype, pattern, device):
    """One row per lane: several vectors, a partial one; and too few rows for that."""
    for n in range(1, 41):
        rows = 7 if n % 10 == 3 else 77
        x = draw(dtype, rows * n, pattern).reshape(rows, n)
        y = chx.array(x, device=device)
        codes = numbered(x)
        for descending in (False, True):
            places = np.argsort(-codes if descending else codes, 1, kind='stable')
            where = f'{dtype} {pattern} {n} {descending}'
            same(chx.argsort(y, 1, descending=descending), places, where)
            expected = np.take_along_axis(x, places, 1)
            same_bits_of_zeros(chx.sort(y, 1, descending=descending), expected, where)
        ordered = np.sort(codes, 1)
        for k in range(n) if pattern == 'odd' else {0, n // 3, n - 1}:
            places = np.argsort(np.sign(codes - ordered[:, k : k + 1]), 1, kind='stable')
            where = f'{dtype} {pattern} {n} {k}'
            same(chx.argpartition(y, k, 1), places, where)
            expected = np.take_along_axis(x, places, 1)
            same_bits_of_zeros(chx.partition(y, k, 1), expected, where)


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64', 'int8', 'int32', 'uint64'])
def test_quantiles_of_short_rows(dtype, device):
    for n in (1, 2, 3, 4, 7, 16, 17, 24, 25, 32, 33):
        x = draw(dtype, 77 * n, 'any').reshape(77, n)
        if n > 2 and category(dtype) == 2:
            x[3, 1], x[4, 2], x[5, 0] = np.nan, np.inf, -np.inf
        y = chx.array(x, device=device)
        q = np.linspace(0, 1, n) if n > 1 else np.array([0.5])
        actual = chx.quantile(y, q, 1, method='nearest')
        expected = in_order(x, 1).T.astype(actual.dtype.name)
        expected[:, np.isnan(expected).any(0)] = np.nan
        same(actual, expected, n)
        np.testing.assert_allclose(
            to_numpy(chx.median(y, 1)).astype(float), np.median(x.astype(float), 1), rtol=1e-3
        )


def test_short_rows_are_the_same_on_any_number_of_threads(device):
    x = chx.array(draw('float32', 100_002, 'odd').reshape(-1, 3), device=device)
    before = chx.get_num_threads()
    found = []
    try:
        for count in (1, 3):
            chx.set_num_threads(count)
            found.append(to_numpy(chx.argpartition(x, 1, 1)))
    finally:
        chx.set_num_threads(before)
    np.testing.assert_array_equal(*found)


def test_sort_in_place(device):
    x = chx.array([[3, 1, 2], [6, 5, 4]], device=device)
    view = x[:, ::2]
    view.sort(0, descending=True)
    np.testing.assert_array_equal(to_numpy(x), [[6, 1, 4], [3, 5, 2]])
    x.T.partition(0)
    np.testing.assert_array_equal(to_numpy(x.min(0)), to_numpy(x[0]))
    leaf = chx.array([2.0, 1.0], device=device).require_grad()
    for method in (leaf.sort, lambda: leaf.partition(0)):
        with pytest.raises(chx.ChainerxError):
            method()
    with pytest.raises(chx.ChainerxError):
        chx.broadcast_to(chx.array([2.0], device=device), (3,)).sort()
    y = (chx.array([2.0, 1.0], device=device).require_grad() * 2).sum()
    z = chx.sort(chx.array([2.0, 1.0], device=device).require_grad())
    z.as_grad_stopped().sort()
    assert y.is_backprop_required()


def test_gradient_after_a_write(device):
    """The gradient of sort() needs its input."""
    x = chx.array([2.0, 1.0, 3.0], device=device).require_grad()
    y = chx.sort(x).sum()
    data = x.as_grad_stopped()
    data += 1
    with pytest.raises(chx.GradientError):
        y.backward()


@pytest.mark.parametrize('dtype', ALL)
@pytest.mark.parametrize('pattern', PATTERNS)
def test_partition_is_that_of_argpartition(dtype, pattern, device):
    """With a graph, elements are gathered by their indices; without one they are not."""
    for n in (1, 2, 64, 2047, 2049, 8193, 50021):
        x = chx.array(draw(dtype, n, pattern), device=device)
        for k in (0, n - 1, n // 2, -1, (0, n // 2)):
            y = chx.partition(x, k)
            e = to_numpy(chx.take(x, chx.argpartition(x, k)))
            same(y, e, f'{dtype} {pattern} {n} {k}')
            if category(dtype) == 2:
                zeros = comparable(e) == 0
                signs = np.signbit(comparable(to_numpy(y))) == np.signbit(comparable(e))
                assert signs[zeros].all()


@pytest.mark.parametrize('dtype', ['int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'])
@pytest.mark.parametrize('is_high', [True, False])
def test_integers_at_one_end_of_their_range(dtype, is_high, device):
    """Nearly all samples lie together, and some at the other end."""
    info = np.iinfo(dtype)
    near, step, far = (info.max, -1, info.min) if is_high else (info.min, 1, info.max)
    x = np.full(5000, near, dtype)
    x[::2] = near + step
    x[[1, 7]] = far, far - step
    for row in (x, x[::-1].copy()):
        a = chx.array(row)
        same(chx.sort(a), np.sort(row), 'sort')
        same(chx.sort(a, descending=True), np.sort(row)[::-1], 'descending')
        same(chx.argsort(a), np.argsort(row, kind='stable'), 'argsort')
        same(chx.unique(a), np.unique(row), 'unique')


@pytest.mark.parametrize('shape', [(0,), (2, 0), (0, 3)])
def test_partition_of_nothing(shape, device):
    """Without elements, no index is out of range, as in NumPy."""
    x = chx.zeros(shape, device=device)
    for kth in (0, 5, -9, (1, 9)):
        for axis in (0, -1):
            assert chx.partition(x, kth, axis).shape == shape
            assert chx.argpartition(x, kth, axis).shape == shape
            x.partition(kth, axis)
