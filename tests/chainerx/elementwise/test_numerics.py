"""Accuracy in hard cases: extremes, long sums, whole ranges, values at any index."""

import math

import chainerx as chx
import numpy as np
import pytest
import scipy.special
from cases import CASES
from cases._harness import make, to_numpy
from cases._table import np_dtype, seeded

ELASTIC = {c.name: c for c in CASES if c.elastic and c.ref is not None}


@pytest.mark.parametrize('case', ELASTIC.values(), ids=str)
def test_value_does_not_depend_on_position(case):
    """The same bits in the middle of a vector, in its tail, alone, and with any stride."""
    function = case.resolve(chx)
    for dtype in ('float32', 'float64', 'float16', 'bfloat16', 'int8', 'int32'):
        if dtype not in case.dtypes:
            continue
        rng = seeded(case.name, 'position')
        args = [a for a in case.calls[0].args if hasattr(a, 'draw')]
        rest = case.calls[0].args[len(args) :]
        values = [make_draw(a, rng, dtype) for a in args]
        whole = to_numpy(function(*(chx.array(v) for v in values), *rest))
        for start in (0, 1, 5, 60, 66):
            for stop in {start + 1, min(67, start + 9)}:
                part = to_numpy(function(*(chx.array(v[start:stop]) for v in values), *rest))
                assert part.tobytes() == whole[start:stop].tobytes(), (dtype, start, stop)
        for layout in ('reversed', 'strided', 'offset'):
            again = to_numpy(function(*(make(v, layout, None) for v in values), *rest))
            assert again.tobytes() == whole.tobytes(), (dtype, layout)


def make_draw(arg, rng, dtype):
    import dataclasses

    return dataclasses.replace(arg, shape=(67,)).draw(rng, dtype)


REFERENCES = {
    'exp': np.exp,
    'expm1': np.expm1,
    'exp2': np.exp2,
    'log': np.log,
    'log1p': np.log1p,
    'log2': np.log2,
    'log10': np.log10,
    'sqrt': np.sqrt,
    'sin': np.sin,
    'cos': np.cos,
    'tan': np.tan,
    'arcsin': np.arcsin,
    'arccos': np.arccos,
    'arctan': np.arctan,
    'sinh': np.sinh,
    'cosh': np.cosh,
    'tanh': np.tanh,
    'arcsinh': np.arcsinh,
    'arccosh': np.arccosh,
    'erf': scipy.special.erf,
    'sigmoid': scipy.special.expit,
}


@pytest.mark.parametrize('name', REFERENCES)
def test_whole_range_of_float32(name):
    """Within 4 units in the last place of the true value, over all magnitudes."""
    rng = seeded(name)
    x = rng.integers(0, 2**32, 40000, dtype=np.uint32).view(np.float32)
    near = np.concatenate([rng.uniform(-s, s, 4000) for s in (1e-3, 1, 10, 90)]).astype('float32')
    x = np.concatenate([x, near])
    if name in ('sin', 'cos', 'tan'):
        x = x[~(np.abs(x) > 1e4)]  # beyond it, the reduction of the argument dominates the error
    with np.errstate(all='ignore'):
        expected = REFERENCES[name](x.astype('float64'))
        rounded = expected.astype('float32')
    actual = to_numpy(getattr(chx, name)(chx.array(x)))
    special = ~np.isfinite(rounded)
    np.testing.assert_array_equal(actual[special], rounded[special])
    ok = ~special
    tiny = np.abs(expected) < np.finfo('float32').tiny
    ulp = np.where(tiny, np.finfo('float32').tiny * 2**-20, np.spacing(np.abs(rounded)))
    error = np.abs(actual[ok].astype('float64') - expected[ok]) / ulp[ok]
    worst = error.argmax()
    assert error.max() <= 4, f'{name}({x[ok][worst]!r}): {error.max():.1f} units'


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float32', 'float64'])
def test_long_sums_are_accurate(dtype):
    n = seeded('sum').uniform(0, 1, 100_000).astype(np_dtype(dtype))
    exact = n.astype('float64').sum()
    rtol = {'float16': 1e-3, 'bfloat16': 8e-3, 'float32': 1e-6, 'float64': 1e-14}[dtype]
    if dtype != 'float16':  # 50,000 is near the end of its range, but within it
        np.testing.assert_allclose(float(chx.sum(chx.array(n))), exact, rtol=rtol)
    np.testing.assert_allclose(float(chx.mean(chx.array(n))), exact / n.size, rtol=rtol)
    square = n.reshape(250, 400)
    for axis in (0, 1):
        expected = square.astype('float64').mean(axis)
        actual = to_numpy(chx.mean(chx.array(square), axis=axis)).astype('float64')
        np.testing.assert_allclose(actual, expected, rtol=2 * rtol)


def test_mean_of_float16_does_not_overflow():
    x = chx.full((70000,), 30.0, 'float16')
    assert float(chx.mean(x)) == 30.0
    assert float(chx.var(x)) == 0.0


def test_variance_far_from_zero():
    n = (seeded('var').standard_normal(10000) + 3000).astype('float32')
    expected = n.astype('float64').var()
    assert float(chx.var(chx.array(n))) == pytest.approx(expected, rel=1e-3)
    assert float(chx.std(chx.array(n))) == pytest.approx(expected**0.5, rel=1e-3)


def test_softmax_of_large_numbers():
    x = chx.array([[1000.0, 1001.0, 999.0], [-1e30, 0.0, -1e30]], 'float32')
    expected = scipy.special.softmax(to_numpy(x).astype('float64'), axis=1)
    np.testing.assert_allclose(to_numpy(chx.softmax(x)), expected, rtol=1e-6, atol=1e-7)
    log = to_numpy(chx.log_softmax(x))
    assert np.isfinite(log[0]).all()
    np.testing.assert_allclose(log[0], scipy.special.log_softmax([1000.0, 1001, 999]), rtol=1e-5)
    t = chx.array([0, 1], 'int64')
    np.testing.assert_allclose(to_numpy(chx.softmax_cross_entropy(x, t)), -log[[0, 1], [0, 1]])


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize('columns', [1, 2, 7, 8, 9, 31, 32, 33, 40, 67])
def test_rows_of_softmax(dtype, columns):
    """Softmax over columns: right, and the same bits for a row at any index."""
    rng = np.random.default_rng(columns)
    x = rng.normal(0, 5, (19, columns)).astype(dtype)
    x[3, 0] = np.nan
    x[4] = -np.inf
    x[5, -1] = np.inf
    t = np.arange(19) % columns
    t[7] = -1
    rtol = 1e-5 if dtype == 'float32' else 1e-13
    wide = x.astype('float64')
    with np.errstate(invalid='ignore'):
        log_softmax = scipy.special.log_softmax(wide, axis=1)
        log_softmax[5] = np.nan  # SciPy has numbers there, but inf - inf is nan
    losses = np.where(t < 0, 0, -log_softmax[np.arange(19), t])

    def gradient(scores, labels):
        scores = chx.array(scores).require_grad()
        weights = chx.arange(1, len(labels) + 1, dtype=dtype)
        (g,) = chx.grad([(chx.softmax_cross_entropy(scores, labels) * weights).sum()], [scores])
        return g / chx.expand_dims(weights, 1)

    hits = (t[:, None] == np.arange(columns)).astype('float64')
    gradients = np.where(t[:, None] < 0, 0, np.exp(log_softmax) - hits)
    routines = {
        'softmax': (lambda x, t: chx.softmax(chx.array(x), axis=1), np.exp(log_softmax)),
        'log_softmax': (lambda x, t: chx.log_softmax(chx.array(x), axis=1), log_softmax),
        'loss': (lambda x, t: chx.softmax_cross_entropy(chx.array(x), t), losses),
        'gradient': (gradient, gradients),
    }
    for name, (f, expected) in routines.items():
        whole = to_numpy(f(x, chx.array(t)))
        np.testing.assert_allclose(whole, expected, rtol=rtol, atol=rtol, err_msg=name)
        if name == 'gradient':
            continue  # its weights differ
        for start, stop in ((0, 1), (2, 12), (10, 19)):
            part = to_numpy(f(x[start:stop], chx.array(t[start:stop])))
            assert part.tobytes() == whole[start:stop].tobytes(), (name, start, stop)


def test_logsumexp_of_extremes():
    inf = np.inf
    for values, expected in (
        ([1000.0, 1000.0], 1000 + np.log(2)),
        ([-1000.0, -1000.0], -1000 + np.log(2)),
        ([-inf, 1.0], 1.0),
        ([-inf, -inf], -inf),
        ([inf, 1.0], inf),
    ):
        assert float(chx.logsumexp(chx.array(values))) == pytest.approx(expected)
    assert np.isnan(float(chx.logsumexp(chx.array([np.nan, 1.0]))))


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float32', 'float64'])
def test_small_losses(dtype, device):
    """The loss of a right label, and of a normal distribution close to the standard one."""
    x = np.array([-40, -9, -2, 0, 3, 9, 40]).astype(np_dtype(dtype))
    label = (x > 0).astype('int32')
    expected = np.logaddexp(0, np.where(label, -1, 1) * x.astype('float64'))
    y = chx.sigmoid_cross_entropy(chx.array(x, device=device), chx.array(label, device=device))
    limits = chx.finfo(dtype)
    rtol, atol = 4 * float(limits.eps), float(limits.smallest_subnormal)
    np.testing.assert_allclose(to_numpy(y).astype('float64'), expected, rtol, atol)

    v = np.array([-1e-2, -1e-4, 0, 1e-4, 1e-2]).astype(np_dtype(dtype))
    y = chx.gaussian_kl_divergence(chx.zeros(5, dtype, device=device), chx.array(v, device=device))
    expected = sum(v.astype('float64') ** k / (2 * math.factorial(k)) for k in range(2, 9))
    # The unit in the last place of expm1(v) - v.
    atol += 1e-2 * np.finfo('float64' if dtype == 'float64' else 'float32').eps
    np.testing.assert_allclose(to_numpy(y).astype('float64'), expected, rtol, atol)


@pytest.mark.parametrize('count', [3, 40, 1000])
@pytest.mark.parametrize('place', [0, 1, -1])
def test_nan_is_not_lost(count, place):
    n = seeded('nan').standard_normal(count).astype('float32')
    n[place] = np.nan
    x = chx.array(n)
    for name in ('sum', 'max', 'min', 'mean', 'var', 'prod'):
        assert np.isnan(float(getattr(chx, name)(x))), name
    assert int(chx.argmax(x)) == n.argmax()
    assert int(chx.argmin(x)) == n.argmin()
    square = chx.array(np.stack([n, np.zeros_like(n)]))
    for name in ('max', 'min'):
        along = to_numpy(getattr(chx, name)(square, axis=0))
        assert np.isnan(along[place])
        assert np.isnan(along).sum() == 1


def test_first_of_equals_wins():
    for dtype in ('int8', 'float32', 'bool', 'float16'):
        n = np.array([[0, 1, 1, 0]] * 20).astype(dtype)
        for name in ('argmax', 'argmin'):
            for axis in (None, 0, 1):
                expected = getattr(np, name)(n, axis=axis)
                actual = to_numpy(getattr(chx, name)(chx.array(n), axis=axis))
                np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float32', 'float64'])
def test_hits_are_where_argmax_is(dtype):
    """Of rows with equal values, nan and infinities, in any layout; no label is out of the way.

    The result has the dtype of the scores, and one row of at most 54 is 2 %: so 1 %.
    """
    rng = np.random.default_rng(0)
    for shape in ((50, 7), (50, 200), (9, 5, 6), (9, 130, 3)):
        values = rng.integers(-3, 3, shape).astype('f')
        values[rng.random(shape) < 0.5 / shape[1]] = np.nan
        values[0] = -np.inf
        values[1, 2:] = np.inf
        best = values.argmax(1)
        for labels in (best, rng.integers(-1, shape[1] + 1, best.shape), np.zeros_like(best)):
            expected = (labels == best).mean()
            y, t = chx.array(values).astype(dtype), chx.array(labels)
            forward = chx.array(np.ascontiguousarray(values[:, ::-1])).astype(dtype)
            last = chx.array(np.ascontiguousarray(np.moveaxis(values, 1, -1))).astype(dtype)
            for x in (y, forward[:, ::-1], chx.moveaxis(last, -1, 1)):
                hits = to_numpy(chx.accuracy(x, t))
                np.testing.assert_allclose(hits.astype('f'), expected, rtol=1e-2)
            ignored = to_numpy(chx.accuracy(y, t, 0)).astype('f')
            kept = labels != 0
            mean = (labels == best)[kept].mean() if kept.any() else 0
            np.testing.assert_allclose(ignored, mean, rtol=1e-2)


def test_integer_extremes():
    for dtype in ('int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'):
        info = np.iinfo(dtype)
        n = np.array([info.min, info.max, 0, 1], dtype)
        x = chx.array(n)
        assert int(x.max()) == info.max
        assert int(x.min()) == info.min
        with np.errstate(over='ignore'):
            for function in (np.add, np.subtract, np.multiply):
                actual = getattr(chx, function.__name__)(x, x[::-1])
                np.testing.assert_array_equal(to_numpy(actual), function(n, n[::-1]))
            if info.min:
                np.testing.assert_array_equal(to_numpy(-x), -n)
                np.testing.assert_array_equal(to_numpy(abs(x)), np.abs(n))
                minus_one = chx.array([-1] * 4, dtype)
                for name in ('floor_divide', 'remainder', 'fmod'):  # min // -1 traps in hardware
                    getattr(chx, name)(x, minus_one)
        zero = chx.zeros((4,), dtype)
        for name in ('floor_divide', 'remainder', 'mod', 'fmod'):
            np.testing.assert_array_equal(to_numpy(getattr(chx, name)(x, zero)), np.zeros(4))
        largest = np.array([2**62, 2**62 + 1, 2**53 + 1]).astype(dtype)
        np.testing.assert_array_equal(to_numpy(chx.array(largest) + 0), largest)


def test_large_integers_are_exact():
    n = np.array([2**62, -(2**62) + 1, 2**53 + 1], 'int64')
    x = chx.array(n)
    assert int(x.sum()) == int(n.sum())
    np.testing.assert_array_equal(to_numpy(x // 3), n // 3)
    np.testing.assert_array_equal(to_numpy(x % 7), n % 7)
    assert to_numpy(x == x - 1).tolist() == [False] * 3


def test_power_of_integers():
    n = np.array([-3, -1, 0, 1, 2, 3], 'int32')
    x = chx.array(n)
    for exponent in (0, 1, 2, 3, 5):
        np.testing.assert_array_equal(to_numpy(x**exponent), n**exponent)
    assert to_numpy(x**-1).tolist() == [0, -1, 0, 1, 0, 0]


def test_subnormal_numbers_survive():
    x = chx.array([1e-40, -1e-42], 'float32')
    assert (to_numpy(x * 1.0) == np.array([1e-40, -1e-42], 'float32')).all()
    assert float((chx.array([1e-30], 'float32') * 1e-10)[0]) != 0.0


@pytest.mark.parametrize('dtype', ['complex64', 'complex128'])
def test_complex_quotients_at_borders(dtype, device):
    """The parts equal NumPy's: 1j / 0 is nan + inf j."""
    parts = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan, 1e30, 1e-40, 1e-30]
    numbers = np.array([complex(a, b) for a in parts for b in parts], dtype)
    x, y = (a.ravel() for a in np.meshgrid(numbers, numbers))
    with np.errstate(all='ignore'):
        expected = x / y
    actual = chx.to_numpy(chx.array(x, device=device) / chx.array(y, device=device))
    for part in ('real', 'imag'):
        np.testing.assert_allclose(getattr(actual, part), getattr(expected, part), 1e-5)


def test_complex_products_with_infinity(device):
    """As NumPy's, without annex G of C, which makes infinities of some pairs of nan."""
    x = chx.array([complex(np.inf, np.nan)], device=device)
    assert repr((x * x).tolist()) == '[(nan+nanj)]'


@pytest.mark.parametrize('dtype', ['complex64', 'complex128'])
def test_conjugates_of_numbers_at_any_part(dtype, device):
    """Complex numbers may be aligned to their parts only, with such strides."""
    part = 'float32' if dtype == 'complex64' else 'float64'
    memory = chx.arange(19, dtype=part, device=device)
    apart = memory[1:].reshape(6, 3)[:, :2].view(dtype)
    for x in (memory[1:].view(dtype), memory[:18].view(dtype)[::-2], apart):
        assert x.conj().tolist() == np.conj(chx.to_numpy(x)).tolist()


@pytest.mark.parametrize('dtype', ['complex64', 'complex128'])
def test_signs_of_subnormal_complex_numbers(dtype, device):
    least = np.finfo(dtype).smallest_subnormal
    x = np.array([complex(least, 0), complex(0, -8 * least)], dtype)
    assert chx.sign(chx.array(x, device=device)).tolist() == [1, -1j]
