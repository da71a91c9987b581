"""Sizes around every boundary at which kernels change their path: vectors, blocks, chunks.

All computations are exact in any order, so that one element that is dropped, or that counts
twice, shows.
"""

import itertools
import pathlib
import re

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from cases._table import np_dtype, seeded

PIECE = 1 << 16

# Sizes of a vector, a tile, a block, a chunk of work. All tests use these sizes.
EDGES = [2**k for k in range(2, 19)]
# Numbers of chunks, some of them odd at one of the halvings.
PIECES = [2, 3, 5, 6, 7, 9]
SMALL = sorted({e + d for e in EDGES if e <= 1024 for d in (-1, 0, 1)} | {0, 1, 2})
SIZES = sorted(
    {*SMALL, 150_000} | {e + d for e in (*EDGES, *(p * PIECE for p in PIECES)) for d in (-1, 0, 1)}
)
# Widths of rows: short ones, tiles, rows of accumulators.
WIDTHS = [1, 2, 3, 5, 31, 32, 33, 63, 64, 65, 127, 129, 255, 257, 511, 512, 513, 1023, 1025, 2049]
LENGTHS = [1, 2, 15, 16, 17, 31, 33, 64, 65, 127, 128, 129, 255, 257, 1024, 1025, 4097, 16385]

# Sizes in the sources that tests can't reach, that are not sizes of arrays, or that others test.
BEYOND = {
    1 << 30: 'indices of 32 bits',
    1 << 19: 'bytes: 2^17 of 4',
    1 << 20: 'elements to a task where there are 64 tasks: arrays of 2^26',
    1 << 21: 'elements that threads share at a time: test_products.py',
    1 << 22: 'bytes: 2^18 of 16',
    1 << 23: 'bytes of an input: test_conv.py',
    1 << 24: 'bytes that are converted at a time: test_products.py',
    1 << 32: 'places that fit beside a key: arrays of 2^32',
    1 << 44: 'numbers of a row that no memory holds: test_attention.py',
    6: 'channels of a convolution: test_conv_algorithms.py',
    9: 'taps: test_conv.py has more and fewer',
    12: 'panels of a product that are packed together: test_products.py',
    14: 'rows of such a panel: test_products.py',
    25: 'taps of a convolution: test_conv_algorithms.py',
    320: 'depth of a product: test_products.py',
    504: 'rows of a product: test_products.py',
}

DTYPES = ['float32', 'float64', 'float16', 'bfloat16', 'int8', 'int64', 'uint8', 'bool']


def test_the_list_knows_every_size_of_the_sources():
    """EDGES must contain every block size of a kernel, else it is not tested here."""
    native = pathlib.Path(__file__).parents[3] / 'cpp' / 'chainerx' / 'native'
    pattern = r'constexpr int64_t (k\w+) = ((?:int64_t\{\d+\}|[\d *<])+);'
    found = {}
    for path in sorted(native.rglob('*.[ch]*')):
        for name, text in re.findall(pattern, path.read_text()):
            value = eval(re.sub(r'int64_t\{(\d+)\}', r'\1', text))
            found[f'{path.name}: {name}'] = value
    assert len(found) > 10
    known = {*EDGES, *BEYOND}
    assert {k: v for k, v in found.items() if v >= 4 and v not in known} == {}


def dense(n, dtype):
    """No zeros; sums of any part are exact in 24 bits."""
    if dtype == 'bool':
        return np.ones(n, bool)
    return (seeded('dense', n).integers(1, 4, n)).astype(np_dtype(dtype))


def positions(n):
    """Indices of elements that could be missed: the ends, and both sides of each boundary."""
    near = {e + d for e in (*EDGES, *(p * PIECE for p in PIECES)) for d in (-1, 0)}
    return sorted({p for p in {0, 1, n - 2, n - 1} | near if 0 <= p < n})


# ---- reductions ----


def same(actual, expected, what):
    actual, expected = to_numpy(actual), np.asarray(expected)
    assert actual.shape == expected.shape, what
    wrong = np.argwhere(~((actual == expected) | ((actual != actual) & (expected != expected))))
    if len(wrong):
        at = tuple(wrong[0])
        raise AssertionError(f'{what}: {actual[at]} at {at}, expected {expected[at]}')


@pytest.mark.parametrize('dtype', DTYPES)
def test_sums_of_one_axis(dtype, device):
    for n in SIZES:
        v = dense(n, dtype)
        x = chx.array(v, device=device)
        total = int(v.astype('int64').sum())
        small = v.dtype.itemsize < 4 and v.dtype.kind not in 'iub'
        with np.errstate(over='ignore'):
            expected = np.array(total).astype(v.dtype) if small else total
        same(chx.sum(x), expected, f'sum of {n}')
        # In another memory order: gathered in blocks.
        wide = chx.array(np.repeat(v, 3), device=device)[::3]
        same(chx.sum(wide), expected, f'sum of {n}, strided')
        same(chx.sum(wide[::-1]), expected, f'sum of {n}, reversed')
        if n and dtype not in ('float16', 'bfloat16', 'bool'):
            mean = total / n
            np.testing.assert_allclose(float(chx.mean(x)), mean, rtol=1e-6, err_msg=f'mean of {n}')
            variance = v.astype('float64').var()
            np.testing.assert_allclose(
                float(chx.var(x)), variance, rtol=1e-5, atol=1e-9, err_msg=f'var of {n}'
            )


def test_products_of_one_axis(device):
    # Doubles every 1000 elements and once at the end: exact, and below 2^1000.
    for n in SIZES:
        v = np.ones(n, 'float64')
        v[::1000] = 2
        v[n - 1 :] = 3
        same(chx.prod(chx.array(v, device=device)), v.prod(), f'prod of {n}')


@pytest.mark.parametrize('dtype', DTYPES)
def test_one_element_is_found(dtype, device):
    """Among zeros, one at each side of each boundary."""
    for n in (1025, 4097, PIECE + 1, 3 * PIECE + 1, 150_000, 7 * PIECE):
        v = np.zeros(n, np_dtype(dtype))
        for p in positions(n):
            v[p] = 1
            x = chx.array(v, device=device)
            what = f'of {n}, one at {p}'
            same(chx.argmax(x), p, f'argmax {what}')
            same(chx.any(x), True, f'any {what}')
            if p in (0, 1023, 1024, PIECE - 1, PIECE, 2 * PIECE, n - 1):
                same(chx.max(x), v[p], f'max {what}')
                same(chx.all(x == 0), False, f'all {what}')
                turned = ~x if dtype == 'bool' else 1 - x
                same(chx.argmin(turned), p, f'argmin {what}')
                same(chx.min(turned), v[p] * 0, f'min {what}')
                same(chx.nonzero(x)[0], [p], f'nonzero {what}')
            v[p] = 0


@pytest.mark.parametrize('dtype', ['float32', 'float64', 'float16', 'int8', 'int64'])
def test_the_first_of_equals_wins(dtype, device):
    n = 3 * PIECE + 5
    v = np.zeros(n, np_dtype(dtype))
    places = positions(n)
    for p, q in itertools.chain(itertools.pairwise(places), itertools.pairwise(places[::3])):
        v[[p, q]] = 1
        x = chx.array(v, device=device)
        same(chx.argmax(x), p, f'argmax, ones at {p} and {q}')
        same(chx.argmax(x[::-1]), n - 1 - q, f'argmax reversed, ones at {p} and {q}')
        if v.dtype.kind == 'f':
            y = x.copy()
            y[p], y[q] = np.nan, np.nan
            same(chx.argmax(y), p, f'argmax, NaN at {p} and {q}')
            same(chx.argmin(y), p, f'argmin, NaN at {p} and {q}')
        v[[p, q]] = 0
    for n in SIZES[1:]:
        for value in (0, 1, -128, *((-np.inf, np.inf) if v.dtype.kind == 'f' else ())):
            x = chx.full((n,), value, dtype, device=device)
            same(chx.argmax(x), 0, f'argmax of {n} times {value}')
            same(chx.argmin(x), 0, f'argmin of {n} times {value}')


def grid():
    """Shapes of matrices, large enough for each path of a reduction and no larger."""
    for width, length in itertools.product(WIDTHS, LENGTHS):
        if width * length <= 300_000:
            yield length, width


@pytest.mark.parametrize('layout', ['plain', 'transposed', 'strided'])
@pytest.mark.parametrize('dtype', ['float32', 'float64', 'int8', 'float16'])
def test_reductions_of_matrices(dtype, layout, device):
    """Both axes: by rows of outputs and by single outputs, in tiles, chunks and narrow rows."""
    for shape in grid():
        v = dense(shape[0] * shape[1], dtype).reshape(shape)
        v[shape[0] // 2, shape[1] // 2] = 5
        if layout == 'transposed':
            x = chx.array(np.ascontiguousarray(v.T), device=device).T
        elif layout == 'strided':
            x = chx.array(np.repeat(v, 2, 1), device=device)[:, ::2]
        else:
            x = chx.array(v, device=device)
        exact = v.astype('int64')
        for axis in (0, 1):
            what = f'{shape}, axis {axis}'
            expected = exact.sum(axis)
            if v.dtype.kind == 'f':
                expected = expected.astype(v.dtype)
            same(chx.sum(x, axis), expected, f'sum of {what}')
            if dtype == 'float32' or shape[0] * shape[1] < 20_000:
                same(chx.max(x, axis), v.max(axis), f'max of {what}')
                same(chx.argmax(x, axis), v.argmax(axis), f'argmax of {what}')
                same(chx.argmin(x, axis), v.argmin(axis), f'argmin of {what}')
                same(chx.all(x == 5, axis), (v == 5).all(axis), f'all of {what}')
                same(chx.any(x == 5, axis), (v == 5).any(axis), f'any of {what}')
        if dtype in ('float32', 'float64'):
            for axis in (0, 1):
                expected = exact.var(axis)
                np.testing.assert_allclose(
                    to_numpy(chx.var(x, axis)), expected, rtol=1e-5, atol=1e-6, err_msg=str(shape)
                )


def test_two_axes_around_a_third(device):
    for shape in [(3, 65, 5), (17, 64, 33), (65, 3, 1025), (2, 129, 257), (257, 2, 63)]:
        v = dense(int(np.prod(shape)), 'float32').reshape(shape)
        x = chx.array(v, device=device)
        for axes in ((0, 2), (0, 1), (1, 2)):
            same(chx.sum(x, axes), v.sum(axes, dtype='int64'), f'sum of {shape} over {axes}')
            same(chx.max(x, axes), v.max(axes), f'max of {shape} over {axes}')


def scattered(v, device):
    """An array of which no two dimensions can be merged."""
    wide = np.full([2 * d + 1 for d in v.shape], 7, v.dtype)
    key = tuple(slice(0, 2 * d, 2) for d in v.shape)
    wide[key] = v
    return chx.array(wide, device=device)[key]


def test_dimensions_that_do_not_merge(device):
    """Outputs in groups, blocks and lines that end in the middle of a dimension."""
    for shape in [(5, 70, 40), (3, 65, 2, 9), (2, 3, 4, 5), (9, 63, 33), (3, 129, 7), (70, 3, 65)]:
        v = dense(int(np.prod(shape)), 'float32').reshape(shape)
        v.flat[v.size // 3] = 5
        x = scattered(v, device)
        for axis in range(len(shape)):
            what = f'{shape} along {axis}'
            same(chx.sum(x, axis), v.sum(axis, dtype='int64'), f'sum of {what}')
            same(chx.max(x, axis), v.max(axis), f'max of {what}')
            same(chx.argmax(x, axis), v.argmax(axis), f'argmax of {what}')
            same(chx.cumsum(x, axis), v.cumsum(axis, dtype='int64'), f'cumsum of {what}')
            same(chx.take(x, chx.array([1, 0], device=device), axis), v.take([1, 0], axis), what)
            same(chx.flip(x, axis).copy(), np.flip(v, axis), f'flip of {what}')
        for axes in itertools.combinations(range(len(shape)), 2):
            same(chx.sum(x, axes), v.sum(axes, dtype='int64'), f'sum of {shape} over {axes}')
        same(x + x, v + v, f'add of {shape}')
        same(x.reshape(-1), v.reshape(-1), f'reshape of {shape}')
        same(x[x > 2], v[v > 2], f'mask of {shape}')


def test_the_most_pieces(device):
    """More than 256 pieces: they grow instead."""
    for n in (256 * PIECE - 1, 256 * PIECE, 256 * PIECE + 1, 257 * PIECE + 1):
        v = np.zeros(n, 'int8')
        x = chx.asarray(v, device=device)
        for p in (n - 1, n // 2, 128 * PIECE, 0):
            v[p] = 1
            same(chx.asarray(v, device=device).sum(), 1, f'sum of {n}, one at {p}')
            v[p] = 0
        v[[n - 2, n - 1]] = 1
        x = chx.asarray(v, device=device)
        same(x.argmax(), n - 2, f'argmax of {n}')
        same(x.max(), np.int8(1), f'max of {n}')


def test_pieces_of_many_outputs(device):
    """More than are kept at a time: 1024 parts, of 2 chunks for each of these."""
    rows = 2 * 1024 // 3
    v = seeded('pieces').integers(-3, 4, (rows, PIECE + 1)).astype('int8')
    v[np.arange(rows), np.arange(rows) * 96] = 5
    x = chx.array(v, device=device)
    same(x.sum(axis=1), v.sum(axis=1, dtype='int64'), 'sum')
    same(x.argmax(axis=1), v.argmax(axis=1), 'argmax')
    np.testing.assert_allclose(to_numpy(x.var(axis=1)), v.var(axis=1), rtol=1e-6)


def test_extreme_in_more_pieces_than_are_kept(device):
    n = 1024 * PIECE + 5
    v = np.zeros(n, 'int8')
    x = chx.array(v, device=device)
    for at in [0, PIECE, 2 * PIECE - 1, n - 6, n - 1]:
        x[at] = 1
        assert int(x.argmax()) == at
        assert int(x[::-1].argmax()) == n - 1 - at
        x[at] = 0


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
def test_positions_of_extremes_among_nans(dtype, device):
    """The first NaN is the extreme, or none is, at any index of a vector."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130, 1024, 1025):
        for places in ([0], [n - 1], [n // 2], [n // 3, n - 1], []):
            v = rng.integers(0, 5, n).astype(dtype)
            v[places] = np.nan
            columns = np.stack([v, v[::-1], np.abs(v - 2)], 1)
            x, y = chx.array(v, device=device), chx.array(columns, device=device)
            for name in ('argmax', 'argmin', 'nanargmax', 'nanargmin'):
                if name.startswith('nan') and n == len(set(places)):
                    continue  # NumPy raises an error
                ours, reference = getattr(chx, name), getattr(np, name)
                what = f'{name} of {n}, NaN at {places}'
                same(ours(x), reference(v), what)
                same(ours(x[::-1]), reference(v[::-1]), what)
                same(ours(y, axis=0), reference(columns, axis=0), what)
                same(ours(y.T, axis=1), reference(columns, axis=0), what)


# ---- scans ----


POSITIONS = ['float32', 'float64', 'float16', 'int32', 'uint32', 'int64', 'uint64', 'int8', 'bool']


def check_positions(v, device):
    reverse = tuple(slice(None, None, -1) for _ in v.shape)
    spread = np.broadcast_to(v[:1], (3, *v.shape[1:]))
    x = chx.array(v, device=device)
    for ours, theirs, layout in (
        (x, v, 'plain'),
        (x[reverse], v[reverse], 'reversed'),
        (x.T, v.T, 'transposed'),
        (scattered(v, device), v, 'scattered'),
        (chx.broadcast_to(x[:1], spread.shape), spread, 'broadcast'),
    ):
        for axis in range(v.ndim):
            for name in ('argmax', 'argmin', 'nanargmax', 'nanargmin'):
                if name.startswith('nan') and np.isnan(theirs).all(axis).any():
                    continue  # NumPy raises an error
                expected = getattr(np, name)(theirs, axis=axis)
                what = f'{name} of {layout} {v.dtype} {v.shape} along {axis}'
                same(getattr(chx, name)(ours, axis=axis), expected, what)


@pytest.mark.parametrize('dtype', POSITIONS)
def test_positions_in_short_rows(dtype, device):
    """Rows that are gathered, transposed or compared at once: narrow stacks, ties and NaNs."""
    rng = seeded(f'short rows {dtype}')
    shapes = itertools.product((1, 7, 70), (2, 8, 9, 16, 31, 33, 65), (1, 2, 3, 8, 17, 31, 33, 63))
    for i, shape in enumerate(shapes):
        most = 2 if (i // 8 + i) % 2 == 0 else 100  # for each width, some with many ties
        v = rng.integers(0, most, shape).astype(dtype)
        if v.dtype.kind == 'f':
            v[rng.random(shape) < 0.02] = np.nan
        elif most == 100:
            v[rng.random(shape) < 0.02] = np.iinfo(dtype).max if dtype != 'bool' else True
        check_positions(v, device)


@pytest.mark.parametrize('dtype', POSITIONS)
@pytest.mark.parametrize('shape', [(PIECE + 7, 3), (2, PIECE + 1, 2), (5, 4097, 31), (3, 700, 9)])
def test_positions_in_long_columns(shape, dtype, device):
    """Adjacent columns are searched in parts."""
    v = np.zeros(shape, dtype)
    for at in (0, 1, 255, 256, shape[-2] // 2, shape[-2] - 1):
        v[..., at, -1] = 1
        if at != 0:
            v[..., at - 1, 0] = v[..., at, -1]
        x = chx.array(v, device=device)
        for name in ('argmax', 'argmin'):
            what = f'{name} of {dtype} {shape}, one at {at}'
            same(getattr(chx, name)(x, axis=-2), getattr(np, name)(v, axis=-2), what)
        v[...] = 0


@pytest.mark.parametrize('dtype', ['int32', 'uint32', 'int64', 'uint64', 'bool'])
def test_positions_of_integers(dtype, device):
    """The first of the extremes, at any index of a vector."""
    rng = seeded(f'positions {dtype}')
    info = np.iinfo(dtype) if dtype != 'bool' else None
    for n in SMALL[1:]:
        v = np.full(n, info.max - 1 if info else False, dtype)
        w = np.full(n, info.min + 1 if info else True, dtype)
        for places in ([0], [n - 1], [n // 2], [n // 3, n - 1], rng.integers(0, n, 3), []):
            most, least = v.copy(), w.copy()
            most[places] = info.max if info else True
            least[places] = info.min if info else False
            same(chx.argmax(chx.array(most, device=device)), most.argmax(), f'{n}, {places}')
            same(chx.argmin(chx.array(least, device=device)), least.argmin(), f'{n}, {places}')


@pytest.mark.parametrize('dtype', ['float32', 'float64', 'float16', 'int32', 'int64', 'uint8'])
@pytest.mark.parametrize('rows', [1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 18, 33])
def test_reductions_of_few_rows(rows, dtype, device):
    """Initial rows, and groups of four."""
    for width in (5, 40, 64, 333, 5000):
        v = dense(rows * width, dtype).reshape(rows, width)
        v[:, width // 2] = 0
        if v.dtype.kind == 'f':
            v[rows - 1, :3] = np.nan
            v[0, 1] = np.nan
            v[:, 4] = -0.0
        x = chx.array(v, device=device)
        for name in ('max', 'min', 'sum', 'prod', 'any', 'all'):
            what = f'{name} of {rows} rows of {width}'
            with np.errstate(over='ignore'):
                expected = getattr(np, name)(v, axis=0)
            if name in ('sum', 'prod') and v.dtype.kind in 'iu':
                expected = expected.astype('int64')
            y = getattr(chx, name)(x, axis=0)
            if name != 'prod' or rows < 5:
                same(y, expected, what)
            if v.dtype.kind == 'f' and name in ('max', 'min', 'sum'):
                assert np.signbit(to_numpy(y)[4]), what


@pytest.mark.parametrize('name', ['cumsum', 'cumprod'])
def test_scans(name, device):
    shapes = [(n,) for n in SIZES if n and n < 3 * PIECE + 2]
    shapes += [(w, n) for w in (2, 3, 255, 256, 257) for n in (1, 16, 17, 255, 256, 257, 512)]
    for shape in shapes:
        v = dense(int(np.prod(shape)), 'int64').reshape(shape)
        v = v if name == 'cumsum' else np.where(v == 1, 1, -1)
        for dtype in ('int64', 'float64', 'float32'):
            x = chx.array(v.astype(dtype), device=device)
            for axis in range(x.ndim):
                expected = getattr(np, name)(v, axis)
                same(getattr(chx, name)(x, axis), expected, f'{name} of {shape} along {axis}')
                reverse = getattr(chx, name)(x.T, x.ndim - 1 - axis).T
                same(reverse, expected, f'{name} of {shape} along {axis}, transposed')


def test_gradients_of_scans(device):
    for shape in [(257,), (17, 257), (257, 17), (PIECE + 1,)]:
        v = dense(int(np.prod(shape)), 'float64').reshape(shape)
        x = chx.array(v, device=device).require_grad()
        gy = chx.array(v, device=device)
        for axis in range(x.ndim):
            (gx,) = chx.grad([chx.cumsum(x, axis)], [x], grad_outputs=[gy])
            expected = np.flip(np.flip(v, axis).cumsum(axis), axis)
            same(gx, expected, f'gradient of cumsum of {shape} along {axis}')


# ---- elementwise, copies ----

LAYOUTS = {
    'plain': (lambda v: v, lambda x: x),
    'reversed': (lambda v: v[::-1].copy(), lambda x: x[::-1]),
    'strided': (lambda v: np.repeat(v, 2), lambda x: x[::2]),
    'offset': (lambda v: np.concatenate([v[:1], v]), lambda x: x[1:]),
}
ELEMENTWISE = {
    'add': lambda xp, x: x + x,
    'add a number': lambda xp, x: x + 3,
    'number minus': lambda xp, x: 100 - x,
    'negative': lambda xp, x: -x,
    'sqrt': lambda xp, x: xp.sqrt(x * x),
    'maximum': lambda xp, x: xp.maximum(x, 50),
    'where': lambda xp, x: xp.where(x > 50, x, -x),
    'less': lambda xp, x: x < 50,
    'equal': lambda xp, x: x == x,
    'to int8': lambda xp, x: x.astype('int8'),
    'to float64': lambda xp, x: x.astype('float64'),
    'to bool': lambda xp, x: (x - 7).astype('bool'),
    'copy': lambda xp, x: x.copy(),
    'not': lambda xp, x: xp.logical_not(x - 7),
    'isnan': lambda xp, x: xp.isnan(x),
    'clip': lambda xp, x: xp.clip(x, 10, 90),
    'floor': lambda xp, x: xp.floor(x / 2),
}  # fmt: skip


@pytest.mark.parametrize('layout', LAYOUTS)
@pytest.mark.parametrize('name', ELEMENTWISE)
def test_elementwise(name, layout, device):
    function, (spread, view) = ELEMENTWISE[name], LAYOUTS[layout]
    for dtype in ('float32', 'float16', 'int32', 'float64'):
        if (name == 'sqrt' and dtype != 'float32') or (name == 'isnan' and dtype == 'int32'):
            continue
        for n in SIZES if dtype == 'float32' else SMALL:
            v = (np.arange(n) % 101).astype(dtype)
            x = view(chx.array(spread(v), device=device))
            same(function(chx, x), function(np, v), f'{name} of {n} {dtype}')


@pytest.mark.parametrize('dtype', ['int8', 'float16', 'float32', 'float64', 'complex128'])
def test_arrays_that_are_joined(dtype, device):
    """On every axis: short and long rows, some of them not contiguous, one or many blocks."""
    shapes = [(1, 1), (3, 5), (100, 163), (7, 40_000), (4097, 9)]
    for shape, n, axis in itertools.product(shapes, (1, 2, 3), (0, 1, 2)):
        values = (np.arange(np.prod(shape)) % 1021).reshape(shape)
        parts = [(values + i).astype(dtype) for i in range(n)]
        xs = [chx.array(p, device=device) for p in parts]
        if n == 3:
            xs[1] = chx.array(parts[1].T.copy(), device=device).T
        what = f'{n} of {shape} on axis {axis}'
        same(chx.stack(xs, axis), np.stack(parts, axis), what)
        if axis < 2:
            xs[0], parts[0] = (
                xs[0][:0] if axis == 0 else xs[0][:, :1],
                (parts[0][:0] if axis == 0 else parts[0][:, :1]),
            )
            same(chx.concatenate(xs, axis), np.concatenate(parts, axis), what)


@pytest.mark.parametrize('dtype', ['int8', 'float16', 'float32', 'float64', 'complex128'])
def test_copies_between_layouts(dtype, device):
    for rows, columns in [(1, 65), (3, 63), (17, 16), (63, 65), (64, 64), (127, 129), (513, 257)]:
        v = (np.arange(rows * columns) % 121).astype(dtype).reshape(rows, columns)
        x = chx.array(v, device=device)
        for what, get in {
            'transposed': lambda x: x.T,
            'flipped': lambda x: x[::-1, ::-1],
            'every second': lambda x: x[:, ::2],
            'a part': lambda x: x[1:, 1:],
            'one column': lambda x: x[:, -1],
        }.items():
            same(get(x).copy(), get(v), f'{what} of {v.shape}')
            y = chx.zeros_like(x)
            z = np.zeros_like(v)
            get(y)[...] = get(x)
            get(z)[...] = get(v)
            same(y, z, f'{what} of {v.shape}, written')
        same(chx.broadcast_to(x[:, :1], x.shape).copy(), np.broadcast_to(v[:, :1], v.shape), 'rows')
        same(chx.concatenate([x, x.T.reshape(rows, columns)], 1), np.concatenate(
            [v, v.T.reshape(rows, columns)], 1), 'concatenate')  # fmt: skip


@pytest.mark.parametrize('dtype', ['int8', 'float32', 'complex128'])
def test_joined_arrays(dtype, device):
    for n in SIZES[:: 1 if dtype == 'float32' else 5]:
        v = dense(n, dtype)
        x = chx.array(v, device=device)
        same(chx.concatenate([x, x[:3], x]), np.concatenate([v, v[:3], v]), f'concatenate of {n}')
        same(chx.stack([x, x], 1), np.stack([v, v], 1), f'stack of {n}')
        same(chx.stack([x, x[::-1]]), np.stack([v, v[::-1]]), f'stack of {n}')


@pytest.mark.parametrize('dtype', ['int8', 'float32', 'complex128'])
def test_rows_that_are_taken(dtype, device):
    """Indices in chunks, rows of all lengths, numbers of rows around those of a task."""
    for n, width in [(511, 1), (512, 3), (513, 8), (1025, 16), (PIECE + 1, 1), (300, 257), (9, 0)]:
        v = (np.arange(n * width) % 101).astype(dtype).reshape(n, width)
        x = chx.array(v, device=device)
        index = seeded('rows', n).permutation(n)
        same(chx.take(x, chx.array(index, device=device), 0), v[index], f'take of {v.shape}')
        same(x[chx.array(index[::-1].copy(), device=device)], v[index[::-1]], f'[] of {v.shape}')
        y, z = chx.zeros_like(x), np.zeros_like(v)
        y[chx.array(index, device=device)] = x
        z[index] = v
        same(y, z, f'[] = of {v.shape}')
        mask = v[:, 0] > 50 if width and dtype != 'complex128' else np.arange(n) % 3 == 0
        same(x[chx.array(mask, device=device)], v[mask], f'mask of {v.shape}')


def test_gradients_of_rows_that_are_taken(device):
    for n in (511, 513, 1025, PIECE + 1):
        index = seeded('taken', n).integers(0, n, n + 7)
        x = chx.zeros((n, 2), 'float64', device=device).require_grad()
        y = chx.take(x, chx.array(index, device=device), 0)
        gy = dense(2 * (n + 7), 'float64').reshape(-1, 2)
        (gx,) = chx.grad([y], [x], grad_outputs=[chx.array(gy, device=device)])
        expected = np.zeros((n, 2))
        np.add.at(expected, index, gy)
        same(gx, expected, f'gradient of take of {n}')


@pytest.mark.parametrize('name', ['uniform', 'normal'])
def test_random_numbers_are_drawn_whatever_the_size(name, device):
    """Block by block: the same numbers for a size as at the start of a larger one."""

    def draw(n):
        chx.random.seed(7)
        return to_numpy(getattr(chx.random, name)(size=(n,), device=device))

    whole = draw(4 * PIECE + 5)
    assert len(np.unique(whole)) > 0.9 * len(whole)
    for n in SIZES:
        if n <= len(whole):
            np.testing.assert_array_equal(draw(n), whole[:n], err_msg=str(n))


# ---- products ----


def triples():
    """Rows, columns and depth: one or two of them at a boundary of registers, blocks, panels."""
    sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257]
    for s, other in itertools.product(sizes, (3, 33)):
        yield from ((s, other, other), (other, s, other), (other, other, s), (s, s, other))
    yield from ((65, 257, 129), (257, 65, 129), (1, 513, 513), (513, 1, 513), (129, 129, 257))
    yield from ((5, 5, 5), (5, 5, 6), (4, 4, 8), (4, 4, 9), (1, 1, 128), (1, 1, 129), (1, 1, 70001))
    yield from ((8, 8, 8), (7, 33, 5), (16, 16, 8), (16, 16, 9), (16, 16, 16), (16, 16, 17))
    yield from ((2, 2, 512), (2, 2, 513), (2, 2, 1024), (2, 2, 1025), (13, 2, 2), (2, 13, 6))
    yield from ((200, 3, 200), (3, 200, 2000), (1, 1000, 1000), (1000, 1, 1000))


@pytest.mark.parametrize('dtype', ['float32', 'float64', 'int32', 'int64', 'float16', 'complex64'])
def test_products_of_matrices(dtype, device):
    for m, n, k in dict.fromkeys(triples()):
        a = seeded('a', m, k).integers(-2, 3, (m, k))
        b = seeded('b', k, n).integers(-2, 3, (k, n))
        expected = a @ b
        ways = itertools.product((False, True), repeat=3)
        for trans_a, trans_b, gap in ways:
            x1 = laid(a.astype(dtype), trans_a, gap, device)
            x2 = laid(b.astype(dtype), trans_b, gap, device)
            what = f'({m}, {k}) by ({k}, {n}), transposed: {trans_a}, {trans_b}, gaps: {gap}'
            same(x1 @ x2, expected, what)
        same(x1[::-1] @ x2, expected[::-1], f'{what}, reversed')


def laid(values, transposed, gap, device):
    """A matrix in column or row order, with padding between columns or rows."""
    values = values.T if transposed else values
    wide = np.full((values.shape[0], values.shape[1] + 3 * gap), 7, values.dtype)
    wide[:, : values.shape[1]] = values
    x = chx.array(wide, device=device)[:, : values.shape[1]]
    return x.T if transposed else x


def test_batches_of_products(device):
    for batch in (1, 3, 16, 65):
        for m, n, k in [(1, 1, 9), (3, 4, 5), (17, 16, 33), (1, 65, 64), (65, 1, 64)]:
            a = seeded('a', batch, m).integers(-3, 4, (batch, m, k)).astype('float32')
            b = seeded('b', batch, n).integers(-3, 4, (batch, k, n)).astype('float32')
            x1, x2 = chx.array(a, device=device), chx.array(b, device=device)
            same(x1 @ x2, a @ b, f'{batch} times ({m}, {k}) by ({k}, {n})')
            same(x1 @ x2[0], a @ b[0], f'{batch} times ({m}, {k}) by one ({k}, {n})')


@pytest.mark.parametrize('dtype', ['float32', 'float64', 'int64', 'complex64'])
def test_batches_of_matrices_and_vectors(dtype, device):
    """Integers, so exact: matrices of either order, and vectors that are columns of others."""
    for batch, m, k in itertools.product(
        (1, 5), (1, 2, 3, 4, 5, 7, 8, 9, 16, 33), (1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 33, 65)
    ):
        a = seeded('a', batch, m, k).integers(-3, 4, (batch, m, k)).astype(dtype)
        b = seeded('b', batch, m, k).integers(-3, 4, (batch, k, 3)).astype(dtype)
        x1, x2 = chx.array(a, device=device), chx.array(b, device=device)
        turned = chx.array(a.swapaxes(1, 2).copy(), device=device).swapaxes(1, 2)
        column, c = x2[..., 1:2], b[..., 1:2]
        what = f'{batch} times ({m}, {k})'
        for x in (x1, turned):
            same(x @ column, a @ c, what)
            same(x @ column.copy(), a @ c, what)
            same(column.swapaxes(1, 2) @ x.swapaxes(1, 2), (a @ c).swapaxes(1, 2), what)
            same(chx.einsum('bij,bj->bi', x, x2[..., 1]), (a @ c)[..., 0], what)
            same(x @ x2, a @ b, what)


@pytest.mark.parametrize('dtype', ['float32', 'float64', 'int32', 'float16', 'complex64'])
def test_rows_by_rows(dtype, device):
    """Of lengths around those of vectors and of blocks of 65536 products; integers, so exact."""
    for n, k in [
        *itertools.product((1, 3, 4, 6), (0, 1, 3, 8, 17, 64, 100)),
        (900, 150),
        (17, 4099),
    ]:
        a, b = (seeded(name, n, k).integers(-2, 3, (n, k)).astype(dtype) for name in 'ab')
        x1, x2 = chx.array(a, device=device), chx.array(b, device=device)
        for seen in (np.s_[:], np.s_[::-1], np.s_[:, ::-1], np.s_[:, 1:], np.s_[::2, ::2]):
            expected = (a[seen] * b[seen]).sum(1, dtype=dtype)
            same(chx.vecdot(x1[seen].conj(), x2[seen]), expected, f'({n}, {k})[{seen}]')
            same(chx.einsum('ij,ij->i', x1[seen], x2[seen]), expected, f'({n}, {k})[{seen}]')
        same(chx.einsum('ij,ij->j', x1, x2), (a * b).sum(0, dtype=dtype), f'columns of ({n}, {k})')


# ---- rows ----


@pytest.mark.parametrize('axis', [0, 1])
def test_softmax_of_all_widths(axis, device):
    for width in WIDTHS:
        v = seeded('softmax', width).normal(size=(width, 19) if axis == 0 else (19, width))
        e = np.exp(v - v.max(axis, keepdims=True))
        expected = e / e.sum(axis, keepdims=True)
        for dtype, rtol in (('float32', 3e-6), ('float64', 1e-13)):
            x = chx.array(v.astype(dtype), device=device)
            actual = to_numpy(chx.softmax(x, axis=axis))
            np.testing.assert_allclose(actual, expected, rtol=rtol, err_msg=str(width))
            actual = to_numpy(chx.log_softmax(x, axis=axis))
            np.testing.assert_allclose(actual, np.log(expected), rtol=rtol * 4, atol=rtol)
