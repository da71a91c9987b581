"""Operands of any memory layout: values, and the memory order of results, against NumPy.

Sides lie around the borders of tiles: lines of the cache, vectors, and what counts as a long run.
"""

import itertools
import os
import subprocess
import sys

import chainerx as chx
import hypothesis
import numpy as np
import pytest
from cases._harness import to_numpy
from hypothesis import strategies as st

quick = hypothesis.settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
DTYPES = ['bool', 'int8', 'float16', 'float32', 'int64', 'float64', 'complex64', 'complex128']
SIDES = [0, 1, 2, 3, 7, 8, 9, 16, 17, 63, 64, 65, 129, 520, 2049]
MOST = 30_000  # elements


def values(shape, dtype, seed):
    """Integers that every dtype represents exactly, in a periodic order."""
    n = np.random.default_rng(seed).integers(0, 2 if dtype == 'bool' else 50, shape)
    return n.astype(dtype)


@st.composite
def shapes(draw):
    shape = []
    for _ in range(draw(st.integers(0, 4))):
        room = MOST // max(1, int(np.prod(shape)))
        shape.append(draw(st.sampled_from([s for s in SIDES if s <= room])))
    return tuple(draw(st.permutations(shape)))


@st.composite
def views(draw, shape, dtype):
    """An array of `shape` over memory of any layout, in NumPy and in chainerx."""
    ndim = len(shape)
    order = draw(st.one_of(st.just(tuple(range(ndim))), st.permutations(range(ndim))))
    steps = [draw(st.sampled_from([1, 1, 1, -1, 2, -2, 3])) for _ in range(ndim)]
    spread = [side > 0 and draw(st.integers(0, 7)) == 0 for side in shape]
    sides = [1 if b else side for side, b in zip(shape, spread, strict=True)]
    lead = 0  # axes added by broadcasting
    while lead < ndim and sides[lead] == 1 and draw(st.booleans()):
        lead += 1
    base = values([sides[i] * abs(steps[i]) for i in order], dtype, draw(st.integers(0, 9)))
    back = np.argsort(order)
    key = tuple(slice(None, None, step) for step in steps)

    def view(x, spread_to):
        x = x.transpose(tuple(int(i) for i in back))[key]
        if any(spread[lead:]):
            x = spread_to(x, shape)
        return x.reshape(x.shape[lead:]) if lead and all(s == 1 for s in x.shape[:lead]) else x

    return view(base, np.broadcast_to), view(chx.array(base), chx.broadcast_to)


def check(y, n):
    n = np.asarray(n)
    assert y.shape == n.shape
    assert y.dtype == n.dtype
    np.testing.assert_array_equal(to_numpy(y), n)


def check_order(y, n):
    """Whether the axes lie in memory in the same order."""
    n = np.asarray(n)
    assert y.shape == n.shape
    if n.size:  # for empty arrays strides mean nothing
        ours = [s for s, side in zip(y.strides, n.shape, strict=True) if side > 1]
        assert ours == [abs(s) for s, side in zip(n.strides, n.shape, strict=True) if side > 1]


def draw_operands(data, count, dtype=None):
    dtype = dtype or data.draw(st.sampled_from(DTYPES))
    shape = data.draw(shapes())
    return shape, dtype, [data.draw(views(shape, dtype)) for _ in range(count)]


@quick
@hypothesis.given(st.data())
def test_unary(data):
    _, dtype, [(n, x)] = draw_operands(data, 1)
    if dtype != 'bool':
        check(-x, -n)
        check_order(-x, -n)
    check(x.copy(), n.copy())
    assert x.copy().is_contiguous
    check(chx.isnan(x), np.isnan(n))
    check_order(chx.isnan(x), np.isnan(n))


@quick
@hypothesis.given(st.data())
def test_binary(data):
    _, dtype, [(n1, x1), (n2, x2)] = draw_operands(data, 2)
    with np.errstate(all='ignore'):
        for y, n in [(x1 != x2, n1 != n2), (x1 * x2, n1 * n2)]:
            check(y, n)
            check_order(y, n)
    if dtype != 'bool':
        check(x1 + 3, n1 + np.asarray(3, dtype))
        check(3 - x1, np.asarray(3, dtype) - n1)


@quick
@hypothesis.given(st.data())
def test_where(data):
    shape, dtype, [(n1, x1), (n2, x2)] = draw_operands(data, 2)
    c, k = data.draw(views(shape, 'bool'))
    y, n = chx.where(k, x1, x2), np.where(c, n1, n2)
    check(y, n)
    check_order(y, n)
    one = np.asarray(1, dtype)
    check(chx.where(k, x1, 1), np.where(c, n1, one))
    check(chx.where(k, 1, x1), np.where(c, one, n1))


@quick
@hypothesis.given(st.data())
def test_astype(data):
    _, _, [(n, x)] = draw_operands(data, 1, data.draw(st.sampled_from(DTYPES[:-2])))
    dtype = data.draw(st.sampled_from(DTYPES))
    with np.errstate(all='ignore'):
        check(x.astype(dtype), n.astype(dtype))
    if all(s != 0 for s, side in zip(n.strides, n.shape, strict=True) if side > 1):
        # NumPy makes broadcast axes the innermost ones here.
        check_order(x.astype(dtype), n.astype(dtype))


@quick
@hypothesis.given(st.data())
def test_writing(data):
    """In-place operations and assignments work in any layout without shared elements."""
    shape, dtype, [(n, x)] = draw_operands(data, 1)
    if not shape:
        return
    order = data.draw(st.permutations(range(len(shape))))
    steps = [data.draw(st.sampled_from([1, -1, 2])) for _ in shape]
    base = values([shape[i] * abs(steps[i]) for i in order], dtype, 11)
    back = tuple(int(i) for i in np.argsort(order))
    key = tuple(slice(None, None, step) for step in steps)
    ours = chx.array(base)
    for array, operand in ((base, n), (ours, x)):
        to = array.transpose(back)[key]
        with np.errstate(all='ignore'):
            to *= operand
    check(ours, base)
    base.transpose(back)[key][...] = n
    ours.transpose(back)[key][...] = x
    check(ours, base)
    base.transpose(back)[key].fill(1)
    ours.transpose(back)[key].fill(1)
    check(ours, base)


@quick
@hypothesis.given(st.data())
def test_reductions(data):
    """Integers, so that sums are exact in any order."""
    _, _, [(n, x)] = draw_operands(
        data, 1, data.draw(st.sampled_from(['bool', 'int8', 'float32', 'int64', 'float64']))
    )
    if n.size == 0:
        return
    axis = data.draw(st.one_of(st.none(), st.sampled_from([None, *range(n.ndim)])))
    check(x.sum(axis=axis), n.sum(axis=axis).astype(x.sum(axis=axis).dtype))
    check(x.max(axis=axis), n.max(axis=axis))
    check(x.argmax(axis=axis), n.argmax(axis=axis))
    check(x.argmin(axis=axis), n.argmin(axis=axis))
    if n.ndim > 1:
        axes = tuple(data.draw(st.permutations(range(n.ndim)))[: data.draw(st.integers(1, n.ndim))])
        check(x.min(axis=axes), n.min(axis=axes))


@quick
@hypothesis.given(st.data())
def test_results_as_operands(data):
    """Views, products, indexing, gradients and interchange accept arrays in any order."""
    _, _, [(n, x)] = draw_operands(data, 1, 'float64')
    n, x = np.asarray(n + 1), x + 1
    check(x.reshape(-1), n.reshape(-1))
    check(x.ravel(), n.ravel())
    check(chx.cumsum(x), np.cumsum(n))
    np.testing.assert_array_equal(np.asarray(x), n)
    np.testing.assert_array_equal(np.from_dlpack(x), n)
    check(chx.from_dlpack(n), n)
    if n.ndim == 2:
        check(x.dot(x.T), n.dot(n.T))
        check(x.T.dot(x), n.T.dot(n))
    if n.ndim and n.shape[0]:
        check(x[[0, -1]], n[[0, -1]])
        check(x[x > 7], n[n > 7])
    v = x.copy().require_grad()
    view = v.transpose() * 2
    (view * view + chx.transpose(x)).backward()
    np.testing.assert_array_equal(to_numpy(v.grad), 8 * n)


@pytest.mark.parametrize('threads', [1, 2, 3])
@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
def test_bits_depend_neither_on_threads_nor_on_layout(threads, dtype):
    """Large enough for several blocks of work in each case of the tiles."""
    rng = np.random.default_rng(5)
    n = rng.uniform(0.5, 2, (700, 301)).astype(dtype)
    x, t = chx.array(n), chx.array(np.ascontiguousarray(n.T)).T
    strided = chx.array(np.repeat(n, 3, axis=1))[:, ::3]
    narrow = chx.array(n.reshape(-1, 7))
    before = chx.get_num_threads()
    try:
        chx.set_num_threads(1)
        expected = to_numpy(chx.exp(x) * x)
        chx.set_num_threads(threads)
        for a in (x, t, strided, x[::-1, ::-1].copy()[::-1, ::-1]):
            for b in (x, t, strided):
                np.testing.assert_array_equal(to_numpy(chx.exp(a) * b), expected)
        y = chx.exp(narrow[:, ::-1]) * narrow[:, ::-1]
        np.testing.assert_array_equal(to_numpy(y)[:, ::-1].reshape(n.shape), expected)
    finally:
        chx.set_num_threads(before)


def test_conflicting_operands_give_c_order():
    x = chx.ones((3, 4))
    t = chx.ones((4, 3)).T
    assert (t + t).T.is_contiguous
    assert (t + 1).T.is_contiguous
    assert (x + t).is_contiguous
    assert (t + x).is_contiguous
    assert (t + chx.ones(4)).T.is_contiguous  # broadcast operands do not affect the order
    assert chx.where(t > 0, t, t).T.is_contiguous
    assert t.astype('float64').T.is_contiguous
    assert t.copy().is_contiguous


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64', 'int32'])
@pytest.mark.parametrize('size', [63, 64, 65, 1023, 1024, 1025, 65535, 65536, 65537, 140_000])
def test_first_extreme(dtype, size):
    """Ties, NaN and infinities on both sides of the boundary of a search."""
    n = np.zeros(size, dtype)
    for place in {0, 1, size // 2, size - 2, size - 1, min(size, 1024) - 1, min(size, 65536) - 1}:
        for first, second in [(1, 1), (1, 2), (2, 1)]:
            n[:] = 0
            n[-1], n[place] = second, first
            for a in (n, np.repeat(n, 2)[::2], -n):
                x = chx.array(np.repeat(a, 2))[::2]
                assert int(x.argmax()) == int(chx.array(a).argmax()) == a.argmax()
                assert int(x.argmin()) == a.argmin()
            table = np.stack([n, n, -n], axis=1)
            check(chx.array(table).argmax(axis=0), table.argmax(axis=0))
            check(chx.array(np.repeat(table, 2, 1))[:, ::2].argmin(axis=0), table.argmin(axis=0))
        if dtype != 'int32':
            n[place] = np.nan
            assert int(chx.array(n).argmax()) == int(chx.array(n).argmin()) == place
            n[:] = np.nan
            n[place] = -np.inf  # not above the value that represents no elements
            assert int(chx.nanargmax(chx.array(n))) == place
            n[place] = np.inf
            assert int(chx.nanargmin(chx.array(n))) == place


# Squares of 4 and 8 items, their remainders, and lines with cache-set conflicts.
@pytest.mark.parametrize('dtype', ['int8', 'float16', 'float32', 'float64', 'complex128'])
@pytest.mark.parametrize('rows', [1, 7, 8, 9, 33, 1024])
@pytest.mark.parametrize('columns', [3, 8, 31, 257, 1024])
def test_transposed_copies(rows, columns, dtype):
    n = (np.arange(rows * columns) % 101).reshape(rows, columns).astype(dtype)
    check(chx.array(n).T.copy(), n.T)
    to = chx.zeros((rows, columns), dtype)
    to.T[...] = chx.array(np.ascontiguousarray(n.T))
    check(to, n)


@pytest.mark.parametrize('shape', [(2048, 1504), (1999, 2001), (3, 1024, 1024)])
@pytest.mark.parametrize('dtype', ['float32', 'float64', 'int8'])
def test_results_larger_than_the_caches(shape, dtype):
    """Some use non-temporal stores: rows of whole lines, copied or beside a transposed operand."""
    n = values(shape, dtype, 1)
    x = chx.array(n)
    for axes in ((0, 1, 2), (1, 0, 2), (0, 2, 1)) if len(shape) == 3 else ((0, 1), (1, 0)):
        check(x.transpose(axes).copy(), n.transpose(axes))
        if shape == (3, 1024, 1024) and axes == (0, 2, 1):
            check(x + x.transpose(axes), n + n.transpose(axes))
    y = chx.zeros(shape[::-1], dtype)
    y[...] = x.transpose()
    check(y, n.transpose())


@pytest.mark.slow
@pytest.mark.skipif('CHAINERX_TEST_STREAM_BYTES' in os.environ, reason='runs itself')
@pytest.mark.parametrize('sample', ['0', '1', '2'])
def test_small_results_that_go_past_the_caches(sample):
    options = ['-q', '-p', 'no:cacheprovider', '--sample', sample]
    subprocess.run(
        [sys.executable, '-m', 'pytest', *options, __file__],
        check=True,
        env={**os.environ, 'CHAINERX_TEST_STREAM_BYTES': '0'},
    )


def test_as_strided_of_views():
    """Strides and offset refer to the memory, not to the view; so do those of gradients."""
    whole = chx.arange(24, dtype='float64').reshape(4, 6)
    flat = np.arange(24.0)
    for x in (whole[1:, ::2], whole.T, chx.broadcast_to(whole[1], (3, 6))):
        first = int(to_numpy(x).ravel()[0])
        y = chx.as_strided(x, (3, 2), (2, 1))
        np.testing.assert_array_equal(
            to_numpy(y), first + np.add.outer([0.0, 2.0, 4.0], [0.0, 1.0])
        )
        np.testing.assert_array_equal(to_numpy(chx.as_strided(x, (24,), (1,), 0)), flat)
    with pytest.raises(chx.DimensionError, match='elements 23 to 26, but the memory of x has 24'):
        chx.as_strided(whole[::-1, ::-1], (4,), (1,))


def test_gradient_of_as_strided_is_that_of_the_memory():
    base = chx.arange(12, dtype='float64').reshape(3, 4)
    x = base[:, ::2].as_grad_stopped().require_grad()
    chx.as_strided(x, (2, 4), (4, 1)).sum().backward()
    # The other elements of the memory do not belong to x.
    np.testing.assert_array_equal(to_numpy(x.grad), [[1, 1], [1, 1], [0, 0]])
    x = chx.broadcast_to(base[0], (3, 4)).as_grad_stopped().require_grad()
    chx.as_strided(x, (4, 2), (1, 0)).sum().backward()
    np.testing.assert_allclose(to_numpy(x.grad), np.full((3, 4), 2 / 3))


def test_overlapping_views_by_strides_are_read_only():
    x = chx.arange(12, dtype='float64')
    y = chx.as_strided(x, (3, 3), (1, 1))
    with pytest.raises(chx.ChainerxError, match='read-only'):
        y += 1
    z = chx.as_strided(x, (3, 3), (3, 1))
    z += 1
    assert x.tolist() == [*range(1, 10), 9, 10, 11]


@pytest.mark.parametrize('size', [2047, 2048, 2049, 4096, 10000, 66000, 66001])
def test_bytes_are_copied_from_any_place_to_any(size, device):
    """Some distances within a page use another path (native/strided/copy_bytes.h)."""
    n = (np.arange(size + 70) % 251).astype('uint8')
    x = chx.array(n, device=device)
    for begin in (0, 1, 64):
        part = x[begin : begin + size]
        for ahead in (0, 1, 3, 15, 16, 17, 63):
            y = chx.concatenate([x[:ahead], part])
            np.testing.assert_array_equal(
                chx.to_numpy(y), np.concatenate([n[:ahead], n[begin : begin + size]])
            )
            z = chx.zeros(size + ahead, 'uint8', device=device)
            z[ahead:] = part
            np.testing.assert_array_equal(chx.to_numpy(z)[ahead:], n[begin : begin + size])


SHORT = [(40, 2, 3), (17, 3, 1, 5), (3, 100, 2, 2), (50, 7), (2, 33, 300), (16, 15, 4), (70, 1, 63)]


@pytest.mark.parametrize('dtype', ['bool', 'float16', 'float32', 'float64', 'complex128'])
@pytest.mark.parametrize('shape', SHORT)
def test_stacks_of_short_rows(shape, dtype, device):
    """Copied by columns (native/strided/copy_runs.cc)."""
    n = (np.arange(np.prod(shape)) % 250 % 7).reshape(shape).astype(dtype)
    x = chx.array(n, device=device)

    def check(y, expected):
        np.testing.assert_array_equal(chx.to_numpy(y), expected)

    for axes in itertools.permutations(range(len(shape))):
        check(x.transpose(axes).copy(), n.transpose(axes))
        backward = (slice(None, None, -1),) * len(shape)
        check(x.transpose(axes)[backward].copy(), n.transpose(axes)[backward])
    for count in (1, 2, 5):
        for axis in range(len(shape)):
            check(chx.repeat(x, count, axis), np.repeat(n, count, axis))
            more = (*shape[:axis], count, *shape[axis:])
            y = chx.broadcast_to(chx.expand_dims(x, axis), more).copy()
            check(y, np.broadcast_to(np.expand_dims(n, axis), more))
            every = (*(slice(None),) * axis, slice(None, None, 2))
            check(x[every].copy(), n[every])
            y = chx.zeros_like(x)
            y[every] = x[every]
            m = np.zeros_like(n)
            m[every] = n[every]
            check(y, m)
        check(chx.tile(x, (count, 2)), np.tile(n, (count, 2)))


@pytest.mark.parametrize('dtype', ['bool', 'float16', 'float32', 'float64', 'complex128'])
@pytest.mark.parametrize('shape', SHORT)
def test_a_few_indices_at_many_positions(shape, dtype, device):
    n = (np.arange(np.prod(shape)) % 250 % 7).reshape(shape).astype(dtype)
    for layout in (
        lambda a: a,
        lambda a: a[::-1],
        lambda a: a.swapaxes(0, -1),
        lambda a: a[..., ::2],
    ):
        x, m = layout(chx.array(n, device=device)), layout(n)
        for axis in range(n.ndim):
            length = m.shape[axis]
            for i in ([0], [length - 1, 0], [-1] * 3, list(range(-length, length))[:33]):
                found = chx.take(x, chx.array(i, device=device), axis)
                np.testing.assert_array_equal(chx.to_numpy(found), np.take(m, i, axis))
            for wrong in (length, -length - 1):
                with pytest.raises(IndexError, match=f'{wrong}'):
                    chx.take(x, chx.array([0, wrong], device=device), axis)
