"""Functions of NumPy that are written in Python: of dtypes and shapes, and what calls functions."""

import itertools

import chainerx as chx
import numpy as np
import pytest
from cases import _promotion as p
from cases._arrays import check, filled, leaf, same
from cases._harness import to_numpy
from cases._table import ALL, np_dtype


def test_limits_of_dtypes():
    for dtype in ('float16', 'float32', 'float64', 'complex64'):
        assert chx.finfo(dtype).eps == np.finfo(dtype).eps
        assert chx.finfo(chx.zeros(2, dtype)).max == np.finfo(dtype).max
    assert float(chx.finfo(chx.bfloat16).eps) == 2**-7
    assert chx.finfo(chx.zeros(2, 'bfloat16')).bits == 16
    for dtype in p.INTS:
        assert chx.iinfo(dtype).max == np.iinfo(dtype).max
        assert chx.iinfo(chx.zeros(2, dtype)).min == np.iinfo(dtype).min
    with pytest.raises(chx.DtypeError, match='int32'):
        chx.finfo('int32')
    with pytest.raises(chx.DtypeError, match='bfloat16'):
        chx.iinfo('bfloat16')
    with pytest.raises(chx.DtypeError):
        chx.finfo('no dtype')


def test_promotion_of_all_pairs():
    for d1, d2 in itertools.product(ALL, ALL):
        assert chx.promote_types(d1, np_dtype(d2)) == np_dtype(p.promote(d1, d2))
    for d, number in itertools.product(ALL, (True, 2, 2.0, 2j)):
        expected = np_dtype(p.promote(d, number))
        if not (number is True or d == 'bool'):
            assert chx.result_type(chx.zeros(2, d), number) == expected, (d, number)
    assert chx.result_type('int8', 1000) == 'int8'
    assert chx.result_type(1, 2.0) == 'float32'
    assert chx.result_type('int8', chx.zeros(2, 'float16'), 'uint8') == 'float16'
    with pytest.raises(ValueError, match='result_type'):
        chx.result_type()
    with pytest.raises(chx.DtypeError):
        chx.promote_types('int8', 'no dtype')


def test_can_cast():
    for d1, d2 in itertools.product(ALL, ALL):
        for rule in ('no', 'safe', 'same_kind', 'unsafe'):
            assert chx.can_cast(d1, d2, rule) == np.can_cast(np_dtype(d1), np_dtype(d2), rule)
    assert chx.can_cast(chx.zeros(2, 'int8'), 'int16')
    with pytest.raises(ValueError, match='nonsense'):
        chx.can_cast('int8', 'int8', 'nonsense')
    with pytest.raises(TypeError, match='number'):
        chx.can_cast(1, 'int8')


def test_isdtype():
    kinds = {
        'bool': p.BOOL,
        'signed integer': p.SIGNED,
        'unsigned integer': p.UNSIGNED,
        'integral': p.INTS,
        'real floating': p.FLOATS,
        'complex floating': p.COMPLEX,
        'numeric': p.NUMERIC,
    }
    for kind, dtypes in kinds.items():
        for d in ALL:
            assert chx.isdtype(np_dtype(d), kind) == (d in dtypes), (d, kind)
    assert chx.isdtype(chx.float32, ('bool', 'real floating'))
    assert chx.isdtype(chx.float32, chx.float32)
    assert not chx.isdtype(chx.float32, (chx.float64, 'integral'))
    with pytest.raises(ValueError, match='real integer'):
        chx.isdtype(chx.float32, 'real integer')
    with pytest.raises(ValueError, match="kind is 'integer', expected one of bool"):
        chx.isdtype(chx.float32, ('bool', 'integer'))
    with pytest.raises(ValueError, match="kind is 'abc'"):
        chx.__array_namespace_info__().dtypes(kind='abc')


def test_kinds_of_objects():
    assert chx.iscomplexobj(chx.zeros(2, 'complex64'))
    assert chx.iscomplexobj(1j)
    assert not chx.iscomplexobj(chx.zeros(2))
    assert chx.isrealobj(chx.zeros(2))
    assert not chx.isrealobj(1j)
    assert chx.isscalar(1.0)
    assert not chx.isscalar(chx.zeros(()))


def test_astype():
    x = leaf([1, 2])
    y = chx.astype(x, 'float64')
    assert y.dtype == 'float64'
    y.backward()
    check(x.grad, [1, 1])
    assert chx.astype(x, 'float32', copy=False) is x
    assert chx.astype(x, 'float32') is not x
    assert chx.astype(x, 'int8', device='native:1').device.name == 'native:1'
    with pytest.raises(TypeError, match='list'):
        chx.astype([1], 'int8')
    with pytest.raises(TypeError, match=r'got numpy\.ndarray'):
        chx.astype(np.ones(2), 'int8')


def test_shapes():
    x = chx.zeros((2, 3, 4))
    assert (chx.shape(x), chx.ndim(x), chx.size(x)) == ((2, 3, 4), 3, 24)
    assert (chx.size(x, 1), chx.size(x, (0, -1))) == (3, 8)
    assert (chx.shape(1.5), chx.ndim([[1]]), chx.size([1, 2])) == ((), 2, 2)
    with pytest.raises(chx.DimensionError, match='3'):
        chx.size(x, 3)
    for shapes in ([], [()], [(2, 3), (3,)], [(2, 1), (1, 3), ()], [3, (2, 1)], [(0,), (1,)]):
        assert chx.broadcast_shapes(*shapes) == np.broadcast_shapes(*shapes)
    for bad in ([(2,), (3,)], [(0,), (2,)], [(-1,)]):
        with pytest.raises(chx.DimensionError, match='broadcast_shapes'):
            chx.broadcast_shapes(*bad)


def test_shared_memory():
    x = chx.zeros((4, 6))
    for a, b in [
        (x, x),
        (x[:2], x[2:]),
        (x[:, ::2], x[:, 1::2]),
        (x[::-1], x[0]),
        (x, chx.zeros((4, 6))),
        (x[:0], x),
        (x.T, x[1, 2]),
    ]:
        na, nb = (chx.to_numpy(y, copy=False) for y in (a, b))
        assert chx.shares_memory(a, b) == np.shares_memory(na, nb)
        assert chx.may_share_memory(a, b) == np.may_share_memory(na, nb)
    assert not chx.shares_memory(x, x.to_device('native:1'))
    with pytest.raises(TypeError, match='b must be'):
        chx.shares_memory(x, 1)
    with pytest.raises(TypeError, match='a must be'):
        chx.may_share_memory([1], x)


def test_apply_along_axis():
    x, n = filled(2, 3, 4)
    for axis in (0, 1, -1):
        same(chx.apply_along_axis(chx.sum, axis, x), np.apply_along_axis(np.sum, axis, n))
        same(
            chx.apply_along_axis(lambda v, k: v[::-1] * k, axis, x, k=2),
            np.apply_along_axis(lambda v, k: v[::-1] * k, axis, n, k=2),
        )
        same(
            chx.apply_along_axis(chx.diag, axis, x[:1, :1]),
            np.apply_along_axis(np.diag, axis, n[:1, :1]),
        )
    y = leaf([[1, 2], [3, 4]])
    chx.apply_along_axis(lambda v: v[0] * v[1], 1, y).backward()
    check(y.grad, [[2, 1], [4, 3]])
    assert chx.apply_along_axis(lambda v: 1, 0, x).tolist() == [[1] * 4] * 3
    with pytest.raises(ValueError, match='vector'):
        chx.apply_along_axis(chx.sum, 0, chx.zeros((2, 0)))
    with pytest.raises(chx.DimensionError, match='3'):
        chx.apply_along_axis(chx.sum, 3, x)
    with pytest.raises(TypeError, match='arr'):
        chx.apply_along_axis(chx.sum, 0, ['a'])


def test_piecewise():
    n = np.array([-2.0, -1, 0, 1, 2, 3])
    x = chx.array(n)
    for ours, theirs in zip(_piecewise(chx, x), _piecewise(np, n), strict=True):
        same(ours, theirs)
    y = leaf([-1, 2, 3], 'float64')
    chx.piecewise(y, [y < 0, y > 2.5], [lambda v: v * v, 4]).backward()
    check(y.grad, [-2, 0, 0])
    with pytest.raises(ValueError, match='funclist'):
        chx.piecewise(x, [x < 0], [1, 2, 3])
    with pytest.raises(chx.DimensionError, match=r'^piecewise: condlist\[0\] has shape \(2,\)'):
        chx.piecewise(x, [chx.zeros(2, 'bool')], [1])


def _piecewise(xp, x):
    yield xp.piecewise(x, [x < 0, x > 1], [-1, lambda v: v * v])
    yield xp.piecewise(x, [x < 0, x > 1], [lambda v, k: -v, 5, lambda v, k: v + k], k=3)
    yield xp.piecewise(x, [x < 9, x > 1], [1, 2])
    yield xp.piecewise(x, x < 0, [7, 8])
    lists = [[True, False, True, False, False, True], [False, True] * 3]
    for conditions in (
        lists,
        lists[0],
        [xp.array(lists[0])],
        xp.array(lists),
        [*map(np.bool_, lists[0])],
    ):
        n = 2 if len(conditions) == 2 else 1
        yield xp.piecewise(x, conditions, [1, 2][:n])
        yield xp.piecewise(x, conditions, [lambda v: -v, 2, 3][: n + 1])
    for conditions in (True, [True], [True, False], xp.array([False, True])):
        yield xp.piecewise(xp.array(2.0), conditions, [5, 6])


def test_mask_indices():
    for k in (0, 1, -1):
        for ours, theirs in ((chx.triu, np.triu), (chx.tril, np.tril)):
            for a, b in zip(
                chx.mask_indices(4, ours, k), np.mask_indices(4, theirs, k), strict=True
            ):
                same(a, b)


def test_vectorize():
    @chx.vectorize
    def larger(a, b):
        """The larger one."""
        return a if a > b else b

    assert larger.__doc__ == 'The larger one.'
    assert larger.__name__ == 'larger'
    x, n = filled(2, 3)
    same(larger(x, 2.5), np.maximum(n, np.float32(2.5)))
    same(larger(x, b=x[:, :1]), n)
    y = leaf([1, 5])
    larger(y, chx.array([2.0, 2.0], 'float32')).backward()
    check(y.grad, [0, 1])
    both = chx.vectorize(lambda a: (a, -a), otypes=['float64', 'float32'])(x)
    assert [b.dtype for b in both] == ['float64', 'float32']
    same(both[1], -n)
    poly = chx.vectorize(lambda c, v: sum(k * float(v) for k in c), excluded={0})
    assert poly([1, 2], x[0]).tolist() == [0, 3, 6]
    assert chx.vectorize(lambda a: a, otypes='d')(chx.zeros((0, 2))).shape == (0, 2)
    with pytest.raises(ValueError, match='otypes'):
        larger(chx.zeros(0), 1)
    with pytest.raises(chx.DimensionError):
        larger(chx.zeros(2), chx.zeros(3))


NUMBERS = {
    'take': [((0, a), {}) for a in (0, -1)] + [(([0, 0],), {'axis': 0})],
    'repeat': [((2, 0), {}), (([3],), {'axis': -1}), ((0,), {'axis': 0})],
    'squeeze': [((0,), {}), ((), {'axis': -1})],
    'argsort': [((), {}), ((0,), {}), ((), {'axis': None})],
    'argpartition': [((0,), {}), ((0, 0), {})],
    'nanmean': [((0,), {}), ((), {'axis': -1, 'keepdims': True})],
    'nanvar': [((0,), {}), ((), {'axis': -1})],
    'nanstd': [((0,), {}), ((), {'axis': -1})],
    'trim_zeros': [((), {})],
}


@pytest.mark.parametrize('name', NUMBERS)
def test_numbers_along_an_axis(name, device):
    """Some functions of NumPy treat an array without dimensions as one of one element."""
    x = chx.array(3.0, device=device)
    for args, kwargs in NUMBERS[name]:
        y = getattr(chx, name)(x, *args, **kwargs)
        expected = getattr(np, name)(np.array(3.0), *args, **kwargs)
        np.testing.assert_array_equal(to_numpy(y), expected, strict=True)
    if name != 'trim_zeros':
        first = {'take': (0,), 'repeat': (2,), 'argpartition': (0,)}.get(name, ())
        with pytest.raises(chx.DimensionError, match='axis 1'):
            getattr(chx, name)(x, *first, axis=1)


def test_numbers_are_masked_packed_and_ordered(device):
    x = chx.array(5, 'uint8', device=device)
    mask = chx.array([True], device=device)
    for axis in (0, -1):
        assert chx.compress(mask, x, axis=axis).tolist() == [5]
        assert chx.packbits(x, axis=axis).tolist() == np.packbits(np.uint8(5), axis=axis).tolist()
        assert chx.unpackbits(x, axis=axis).tolist() == [0, 0, 0, 0, 0, 1, 0, 1]
        order = chx.lexsort((x, x), axis=axis)
        assert order.tolist() == 0
        assert order.shape == ()


@pytest.mark.parametrize('name', ['convolve', 'correlate'])
@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64', 'complex64'])
@pytest.mark.parametrize('mode', ['full', 'same', 'valid'])
def test_non_finite_values_stay_in_their_windows(name, dtype, mode, device):
    """A NaN or an infinity of the shorter operand is not multiplied by zeros beyond the ends."""
    rng = np.random.default_rng(0)
    wide = {'float16': 'float32'}.get(dtype, dtype)
    for n, m in ((1, 1), (5, 3), (3, 5), (40, 17), (300, 20), (64, 64), (3, 400)):
        for place in (0, m // 2, m - 1):
            a, v = (rng.uniform(-2, 2, k).astype(dtype) for k in (n, m))
            v[place], v[m // 3] = np.nan, np.inf
            expected = getattr(np, name)(a.astype(wide), v.astype(wide), mode)
            y = getattr(chx, name)(chx.array(a, device=device), chx.array(v, device=device), mode)
            finite = np.isfinite(expected)
            assert (np.isfinite(to_numpy(y)) == finite).all()
            tol = 2e-3 if dtype == 'float16' else 1e-5
            np.testing.assert_allclose(to_numpy(y)[finite], expected[finite], tol, tol)
            if dtype[0] == 'f':
                assert (np.isnan(to_numpy(y)) == np.isnan(expected)).all()
    batch = chx.func.vmap(lambda v: getattr(chx, name)(chx.array(a, device=device), v, mode))
    one = to_numpy(batch(chx.array(v, device=device)[None]))[0]
    assert (np.isfinite(one) == finite).all()


@pytest.mark.parametrize('n', [1, 8, 63, 64, 65, 600, 5000])
@pytest.mark.parametrize('m', [1, 2, 9, 10, 31, 600])
def test_convolutions_of_any_length(n, m):
    """Lengths at which blocks, vectors and ends meet; derivatives swap the lengths."""
    rng = np.random.default_rng(0)
    a, v = rng.standard_normal(n), rng.standard_normal(m)
    for dtype in ('float32', 'float64'):
        x, w = (chx.array(k, dtype).require_grad() for k in (a, v))
        y = chx.convolve(x, w)
        tol = 1e-12 if dtype == 'float64' else 1e-4
        np.testing.assert_allclose(to_numpy(y), np.convolve(a, v), tol, tol * 10)
        g = rng.standard_normal(n + m - 1)
        (y * chx.array(g, dtype)).sum().backward()
        np.testing.assert_allclose(
            to_numpy(x.grad), np.correlate(g, v, 'valid')[:n], tol, tol * 100
        )
        np.testing.assert_allclose(
            to_numpy(w.grad), np.correlate(g, a, 'valid')[:m], tol, tol * 100
        )


def test_interpolates_beside_non_finite_values(device):
    """Values at the points, and those determined by one side, equal NumPy's."""
    inf, nan = np.inf, np.nan
    at = [-1.0, 0.0, 0.25, 1.0, 1.5, 2.0, 3.0, nan]
    places = chx.array([0.0, 1.0, 2.0], 'float64', device=device)
    for values in ([inf, 4, 1], [1, inf, 2], [1, inf, inf], [3, 2, -inf], [1, nan, 2], [5, 5, inf]):
        x = chx.array(at, device=device).require_grad()
        y = chx.interp(x, places, chx.array(values, 'float64', device=device))
        expected = np.interp(at, [0, 1, 2], np.array(values, 'float64'))
        np.testing.assert_array_equal(to_numpy(y), expected)
        with chx.no_backprop_mode():
            y = chx.interp(x, places, chx.array(values, 'float64', device=device))
        np.testing.assert_array_equal(to_numpy(y), expected)
    y = chx.interp(x, places, chx.array([0.0, 1.0, 4.0], device=device))
    y.sum().backward()
    assert x.grad.tolist()[:5] == [0, 1, 1, 3, 3]


@pytest.mark.parametrize(
    'places', [[-1.0, 0, 2], [-np.inf, 0, 1], [-1, 0, np.inf], [-np.inf, -0.0, np.inf], [0, 0, 1]]
)
def test_interpolates_beside_places_that_are_not_finite(places, device):
    """The sign of zero at points matters, too, as in NumPy."""
    at = np.array([-np.inf, -5, -1, -0.5, -0.0, 0.0, 0.5, 1, 2, np.inf, np.nan])
    x = chx.array(at, device=device)
    graph = chx.array(at, device=device).require_grad()
    xp = chx.array(places, 'float64', device=device)
    for values in itertools.product([-np.inf, -1.0, -0.0, 0.0, 2.0, np.nan], repeat=3):
        pairs = np.stack([values, values[::-1]], -1)
        for fp in (np.array(values), pairs.view('complex128')[:, 0]):
            with np.errstate(all='ignore'):
                expected = np.interp(at, places, fp)
            expected[-1] = complex(np.nan, np.nan) if fp.dtype == complex else np.nan
            for y in (
                chx.interp(x, xp, chx.array(fp, device=device)),
                chx.interp(graph, xp, chx.array(fp, device=device)),
            ):
                # the parts of complex numbers are real, and their signs matter
                y, both = (to_numpy(y).view('float64'), expected.view('float64'))
                np.testing.assert_array_equal(y, both, str(values))
                valid = ~np.isnan(both)
                np.testing.assert_array_equal(np.signbit(y)[valid], np.signbit(both)[valid])


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_interpolates_where_lines_are_longer_than_numbers(dtype, device):
    """Points, values, and slopes whose differences overflow, beside plain lines."""
    most = float(np.finfo(dtype).max)
    least = float(np.finfo(dtype).tiny)
    places = np.array([-most, -1.0, 0.0, least, 0.75 * most, most], dtype)
    values = np.array([most / 2, -most, most, 1.0, 2.0, -1.0], dtype)
    whole = np.array([-most, most], dtype)
    at = np.array([-most / 2, -0.25, 0.0, least / 2, most / 2, 0.9 * most, -most], dtype)
    for xp, fp in ((places, values), (whole, np.array([1, 2], dtype)), (whole, whole / 2)):
        x0, x1 = (xp.astype('longdouble')[i : len(xp) - 1 + i] for i in (0, 1))
        y0, y1 = (fp.astype('longdouble')[i : len(xp) - 1 + i] for i in (0, 1))
        i = np.clip(np.searchsorted(xp, at, 'right') - 1, 0, len(xp) - 2)
        slope = ((y1 - y0) / (x1 - x0))[i]
        part = (at.astype('longdouble') - x0[i]) / (x1 - x0)[i]
        expected = (y0[i] * (1 - part) + y1[i] * part).astype(dtype)
        table = [chx.array(a, device=device) for a in (xp, fp)]
        y = chx.interp(chx.array(at, device=device), *table)
        np.testing.assert_allclose(to_numpy(y), expected, 1e-6)
        x = chx.array(at, device=device).require_grad()
        y = chx.interp(x, *table)
        np.testing.assert_allclose(to_numpy(y), expected, 1e-6)
        (y / most).sum().backward()
        inside = np.abs(slope) < most / 8
        np.testing.assert_allclose(
            to_numpy(x.grad)[inside], (slope / most)[inside].astype(dtype), 1e-4, least
        )


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize('n', [2, 3, 4, 17, 100, 1000, 20_000])
def test_interpolates_in_tables(n, dtype, device):
    """Numbers in any order, below, at and above the points, some of which coincide."""
    rng = np.random.default_rng(n)
    places = np.sort(rng.integers(0, 4 * n, n)).astype(dtype)
    values = rng.integers(-9, 9, n).astype(dtype)
    table = [chx.array(a, device=device) for a in (places, values)]
    strided = [chx.array(np.repeat(a, 2), device=device)[::2] for a in (places, values)]
    for size in (0, 1, 2, 15, 16, 17, 255, 256, 257, 16_383, 16_385, 40_000):
        at = rng.integers(-8, 16 * n + 8, size).astype(dtype) / 4
        at[rng.random(size) < 0.01] = np.nan
        at[rng.random(size) < 0.01] = np.inf
        nearly = np.sort(at)
        nearly[size // 3 : size // 3 + 2] = nearly[size // 3 : size // 3 + 2][::-1]
        for x in (at, np.sort(at), np.sort(at)[::-1], nearly):
            for sides in ({}, {'left': -100, 'right': 0.5}):
                expected = np.interp(x, places, values, **sides)
                y = chx.interp(chx.array(x, device=device), *table, **sides)
                assert y.dtype == dtype
                tol = 1e-5 if dtype == 'float32' else 1e-13
                np.testing.assert_allclose(to_numpy(y), expected, tol, tol * 20)
                # the composition, which has gradients, gives the same bits
                graph = chx.array(x, device=device).require_grad()
                np.testing.assert_array_equal(to_numpy(chx.interp(graph, *table, **sides)), y)
                every = chx.array(np.repeat(x, 2), device=device)[::2]
                np.testing.assert_array_equal(to_numpy(chx.interp(every, *strided, **sides)), y)


@pytest.mark.parametrize('dtype', ['int8', 'int64', 'uint16'])
def test_spaces_whole_numbers_downwards(dtype, device):
    for start, stop, num, endpoint in (
        (-3.5, 3.5, 4, True),
        (0, 10, 4, True),
        (9.9, -2.2, 5, False),
    ):
        if dtype == 'uint16' and min(start, stop) < 0:
            continue
        expected = np.linspace(start, stop, num, endpoint, dtype=dtype)
        y = chx.linspace(start, stop, num, endpoint, dtype, device)
        np.testing.assert_array_equal(to_numpy(y), expected, strict=True)
        ends = (chx.array([v, v], 'float64', device=device) for v in (start, stop))
        y = chx.linspace(*ends, num, endpoint, dtype)
        np.testing.assert_array_equal(to_numpy(y), np.stack([expected] * 2, 1), strict=True)


def test_spaces_complex_numbers(device):
    for args in ((1j, 2, 3), (0, 4 + 2j, 5, False), (1 + 1j, 2j, 1), (1j, 2j, 0)):
        y = chx.linspace(*args, device=device)
        assert y.dtype == 'complex64'
        np.testing.assert_allclose(to_numpy(y), np.linspace(*args), 1e-6)
    y, step = chx.linspace(1j, 2, 3, dtype='complex128', retstep=True, device=device)
    assert y.tolist() == [1j, 1 + 0.5j, 2]
    assert step == 1 - 0.5j
    with pytest.raises(TypeError, match='stop'):
        chx.linspace(1j, 'a')
    with pytest.raises(chx.DtypeError):
        chx.linspace(1j, 2, dtype='float32')


def test_block_of_more_arrays_than_a_node_has_inputs(device):
    x = chx.arange(40_000, dtype='float32', device=device)
    parts = [x[i : i + 1] for i in range(40_000)]
    y = chx.block([parts[i : i + 200] for i in range(0, 40_000, 200)])
    np.testing.assert_array_equal(to_numpy(y), to_numpy(x).reshape(200, 200))


@pytest.mark.parametrize('dtype', ALL)
def test_lists_of_any_layout(dtype, device):
    x = np.arange(-3, 9).reshape(3, 4)
    x = (x > 0 if dtype == 'bool' else x.astype(np_dtype(dtype))).astype(np_dtype(dtype))
    y = chx.array(x, device=device)
    views = [lambda a: a, lambda a: a.T, lambda a: a[::-1, ::2], lambda a: a[1], lambda a: a[1, 2]]
    views += [lambda a: a[:, :0], lambda a: a[:0], lambda a: a[None, :, None]]
    for view in views:
        actual, expected = view(y).tolist(), view(x).tolist()
        assert repr(actual) == repr(expected)


@pytest.mark.parametrize('decimals', [-20, -400, -(2**31), -(2**63)])
@pytest.mark.parametrize('dtype', [d for d in ALL if d != 'bool' and not d.startswith('complex')])
def test_round_to_more_than_there_is(dtype, decimals, device):
    x = chx.array([0, 1, 2, 77, 101], dtype=dtype, device=device)
    assert chx.round(x, decimals).tolist() == [0] * 5


def test_unravel_index_beyond_int64(device):
    x = chx.array([1, 2**64 - 1], dtype='uint64', device=device)
    with pytest.raises(ValueError, match='unravel_index: index 18446744073709551615 in indices'):
        chx.unravel_index(x, (2, 3))


def test_errors_of_shapes_and_dtypes():
    for call, text in (
        (
            lambda: chx.broadcast_shapes((1,), (2, 'a')),
            r"broadcast_shapes: args\[1\] is \(2, 'a'\)",
        ),
        (lambda: chx.broadcast_shapes(2.5), r'broadcast_shapes: args\[0\] is 2\.5'),
        (lambda: chx.size(chx.ones(2), 'a'), "size: axis is 'a'"),
        (lambda: chx.size(chx.ones(2), (0, 1.5)), r'size: axis is \(0, 1\.5\)'),
        (lambda: chx.fromiter([1], 'foo'), "fromiter: dtype is 'foo'"),
        (lambda: chx.fromstring('1', 'foo', sep=' '), "fromstring: dtype is 'foo'"),
        (lambda: chx.clip(chx.ones(2), min='a'), 'clip: min must be'),
        (lambda: chx.clip(chx.ones(2), 0, 'a'), 'clip: max must be'),
    ):
        with pytest.raises(TypeError, match=text):
            call()
    assert chx.broadcast_shapes(np.array([2, 1]), [1, 3], 3) == (2, 3)
