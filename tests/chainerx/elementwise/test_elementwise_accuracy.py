"""Errors of the elementwise functions in units in the last place, over their whole domains.

The reference is NumPy in a wider type: float64 for float32, and x87 long double for float64 where
the machine has it.
"""

import chainerx as chx
import numpy as np
import pytest

N = 20011
WIDE = np.finfo(np.longdouble).nmant > 52

# name, bounds of the arguments (None: the whole range), maximum error
UNARY = [
    ('sqrt', (0, None), 0.51),
    ('exp', (-745, 709.5), 1.5),
    ('expm1', (-40, 709.5), 2),
    ('exp2', (-1074, 1023.9), 1.5),
    ('log', (0, None), 1.5),
    ('log', (0.5, 2), 1.5),
    ('log2', (0.5, 2), 2),
    ('log10', (0.5, 2), 1.5),
    ('log1p', (-0.99, 8), 1.5),
    ('cbrt', (None, None), 1.5),
    ('sin', (-10, 10), 1.5),
    ('cos', (-10, 10), 1.6),
    ('tan', (-10, 10), 2.5),
    ('sin', (-1e9, 1e9), 1.6),
    ('cos', (-1e9, 1e9), 1.6),
    ('sin', (-1e30, 1e30), 1.6),
    ('sin', (None, None), 1.6),
    ('cos', (None, None), 1.6),
    ('tan', (None, None), 2.5),
    ('arcsin', (-1, 1), 2.5),
    ('arccos', (-1, 1), 2),
    ('arctan', (-5, 5), 2.8),
    ('sinh', (-709, 709), 2.5),
    ('sinh', (-2, 2), 2.5),
    ('cosh', (-709, 709), 2),
    ('tanh', (-5, 5), 2.5),
    ('arcsinh', (None, None), 2),
    ('arcsinh', (-2, 2), 2),
    ('arccosh', (1, 5), 2.5),
    ('arctanh', (-0.999, 0.999), 2),
]
BINARY = [
    ('power', (0, 30), (-20, 20), 1.5),
    ('power', (0.99, 1.01), (-6000, 6000), 1.5),
    ('power', (0, 1e-37), (-3, 3), 1.5),
    ('arctan2', (-5, 5), (-5, 5), 2.8),
    ('hypot', (-5, 5), (-5, 5), 1.5),
    ('hypot', (None, None), (None, None), 1.5),
]


def _arguments(rng, bounds, dtype):
    """Half of them are uniform in the range, half have uniform exponents."""
    info = np.finfo(dtype)
    # The range of the float dtype: exp of 709 is infinite in float32.
    scale = 1 if dtype == 'float64' else 88.0 / 709.0
    low, high = (
        None if v is None else v * (scale if abs(v) in (709, 709.5, 745) else 1) for v in bounds
    )
    if dtype == 'float32':
        low, high = (
            v and max(-126, min(127.9, v)) if v and 1000 < abs(v) < 2000 else v for v in (low, high)
        )
    low = -info.max / 4 if low is None else low
    high = info.max / 4 if high is None else high
    even = low + (high - low) * rng.random(N)
    exponents = rng.uniform(info.minexp, info.maxexp - 1, N)
    spread = np.exp2(exponents) * rng.choice([-1.0, 1.0], N)
    values = np.concatenate([even, spread[(spread >= low) & (spread <= high)]])
    return values.astype(dtype)


def _ulps(actual, exact):
    """Errors in units in the last place; results must be finite where the exact ones are."""
    dtype = actual.dtype
    rounded = exact.astype(dtype)
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(actual[~finite], rounded[~finite])
    spacing = np.spacing(np.abs(rounded[finite])).astype(exact.dtype)
    return np.abs(actual[finite].astype(exact.dtype) - exact[finite]) / spacing


def _check(name, arguments, dtype, limit):
    if dtype == 'float64' and not WIDE:
        pytest.skip('long double is no wider than float64 here')
    wide = np.float64 if dtype == 'float32' else np.longdouble
    with np.errstate(all='ignore'):
        exact = getattr(np, name)(*(x.astype(wide) for x in arguments))
        actual = chx.to_numpy(getattr(chx, name)(*(chx.array(x) for x in arguments)))
        errors = _ulps(actual, exact)
    worst = int(np.argmax(errors))
    assert errors[worst] <= limit, f'{name}: {errors[worst]:.2f} ulp'


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize(('name', 'bounds', 'limit'), UNARY)
def test_unary(name, bounds, limit, dtype):
    x = _arguments(np.random.default_rng(7), bounds, dtype)
    _check(name, [x], dtype, limit)


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize(('name', 'bounds1', 'bounds2', 'limit'), BINARY)
def test_binary(name, bounds1, bounds2, limit, dtype):
    rng = np.random.default_rng(8)
    x1, x2 = _arguments(rng, bounds1, dtype), _arguments(rng, bounds2, dtype)
    n = min(len(x1), len(x2))
    _check(name, [x1[:n], x2[:n]], dtype, limit)


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize(('name', 'base'), [('log2', 2.0), ('log10', 10.0)])
def test_logarithms_of_powers_are_whole(name, base, dtype):
    exponents = np.arange(-37, 39)
    powers = chx.array((base**exponents).astype(dtype))
    assert chx.to_numpy(getattr(chx, name)(powers)).tolist() == exponents.tolist()


@pytest.mark.parametrize('dtype', ['complex64', 'complex128'])
def test_absolute_of_complex(dtype):
    part = 'float32' if dtype == 'complex64' else 'float64'
    if part == 'float64' and not WIDE:
        pytest.skip('long double is no wider than float64 here')
    wide = np.float64 if part == 'float32' else np.longdouble
    rng = np.random.default_rng(11)
    real, imag = _arguments(rng, (None, None), part), _arguments(rng, (-5, 5), part)
    n = min(len(real), len(imag))
    edges = [0, -0.0, 1, np.finfo(part).smallest_subnormal, np.finfo(part).tiny, np.finfo(part).max]
    edges = np.array([*edges, np.inf, -np.inf, np.nan], part)
    real = np.concatenate([real[:n], np.repeat(edges, len(edges))])
    imag = np.concatenate([imag[:n], np.tile(edges, len(edges))])
    x = np.empty(real.shape, dtype)
    x.real, x.imag = real, imag
    with np.errstate(all='ignore'):
        result = chx.to_numpy(abs(chx.array(x)))
        errors = _ulps(result, np.hypot(real.astype(wide), imag))
    assert errors.max() <= 1.5
    # The same in any layout, and next to any other number.
    rows = n // 8 * 8
    for pick in (
        lambda a: a[1:],
        lambda a: a[::-3],
        lambda a: a[:rows].reshape(8, -1).T,
        lambda a: a[:rows].reshape(8, -1)[1:6:2, ::-2],
        lambda a: a[0],
        lambda a: a[:0],
    ):
        assert chx.to_numpy(abs(pick(chx.array(x)))).tobytes() == pick(result).tobytes()


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize(
    ('name', 'shift', 'limit'), [('sin', 0, 1.5), ('cos', 0.5, 1.6), ('tan', 0, 2.5)]
)
def test_beside_zeros(name, shift, limit, dtype):
    """All digits are right near k pi, where the result is below the leading digits of pi."""
    _check(name, [((np.arange(-20000, 20000) + shift) * np.pi).astype(dtype)], dtype, limit)


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_erf_and_sigmoid(dtype):
    special = pytest.importorskip('scipy.special')
    x = _arguments(np.random.default_rng(9), (-6, 6), dtype)
    exact = special.erf(x.astype('f8'))
    np.testing.assert_array_max_ulp(chx.to_numpy(chx.erf(chx.array(x))), exact.astype(dtype), 3)
    exact = special.expit(x.astype('f8'))
    np.testing.assert_array_max_ulp(chx.to_numpy(chx.sigmoid(chx.array(x))), exact.astype(dtype), 3)


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_gelu(dtype):
    special = pytest.importorskip('scipy.special')
    x = np.concatenate([np.linspace(-12, 12, 100_001), np.geomspace(1e-30, 1, 1001)]).astype(dtype)
    w = x.astype('f8')
    n = special.ndtr(w)
    u = np.sqrt(2 / np.pi) * (w + 0.044715 * w**3)
    s, du = special.expit(2 * u), np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * w**2)
    bell = np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi)
    exact = {'none': (w * n, n + w * bell), 'tanh': (w * s, s + 2 * w * s * (1 - s) * du)}
    # float32 also far below zero; there exp(-x^2 / 2) has the error of x^2.
    rtol, atol = (1e-5, 1e-30) if dtype == 'float32' else (4e-16, 2e-15)
    for approximate, (y, slope) in exact.items():
        a = chx.array(x).require_grad()
        actual = chx.gelu(a, approximate)
        np.testing.assert_allclose(chx.to_numpy(actual), y, rtol, atol)
        chx.backward([actual])
        np.testing.assert_allclose(chx.to_numpy(a.grad), slope, 1e-5, 1e-6)


def _gated(name, x):
    """Value and derivative, in extended precision."""
    w = x.astype(np.longdouble)
    e = np.exp(-np.abs(w))
    s = np.where(w < 0, e, 1) / (1 + e)
    if name == 'silu':
        return w * s, s + w * s * np.where(w < 0, 1, e) / (1 + e)
    n, d = np.where(w < 0, e * e + 2 * e, 1 + 2 * e), np.where(w < 0, 2, 2 * e * e)
    rise = 4 * e * (1 + e) * np.where(w < 0, 1, e) / (n + d) ** 2
    return w * n / (n + d), n / (n + d) + w * rise


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize('name', ['silu', 'mish'])
def test_gated(name, dtype):
    far = 87 if dtype == 'float32' else 700  # beyond it, exp(x) is subnormal
    x = np.concatenate([np.linspace(-far, far, 100_001), np.geomspace(1e-30, 1, 1001)])
    x = np.concatenate([x, -x]).astype(dtype)
    value, slope = _gated(name, x)
    a = chx.array(x).require_grad()
    y = getattr(chx, name)(a)
    np.testing.assert_array_max_ulp(chx.to_numpy(y), value.astype(dtype), 4)
    chx.backward([y])
    eps = np.finfo(dtype).eps
    # Where the slope crosses 0, the absolute error counts, as for any difference.
    np.testing.assert_allclose(chx.to_numpy(a.grad), slope.astype(dtype), 4 * eps, eps)


@pytest.mark.parametrize('name', ['silu', 'mish'])
def test_derivatives_of_gated_far_out(name):
    x = chx.array([-np.inf, -1e30, -1e4, 1e4, 1e30, np.inf], 'float32').require_grad()
    (slope,) = chx.grad([getattr(chx, name)(x)], [x], enable_double_backprop=True)
    (curve,) = chx.grad([slope], [x])
    assert chx.to_numpy(slope).tolist() == [0, 0, 0, 1, 1, 1]
    assert chx.to_numpy(curve).tolist() == [0] * 6


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float32', 'float64'])
@pytest.mark.parametrize('name', ['exp', 'log', 'sin', 'tanh', 'erf', 'sqrt', 'sigmoid', 'cbrt'])
def test_a_value_does_not_depend_on_its_place(name, dtype):
    x = chx.array(np.random.default_rng(3).uniform(0.1, 3, 1003).astype('f4')).astype(dtype)
    whole = chx.to_numpy(getattr(chx, name)(x))
    for part in (
        slice(1, None),
        slice(5, 6),
        slice(0, 37),
        slice(None, None, -1),
        slice(0, None, 3),
    ):
        index = np.arange(1003)[part]
        y = chx.take(x, chx.array(index), axis=0) if index.size > 500 else x[part]
        assert chx.to_numpy(getattr(chx, name)(y)).tobytes() == whole[index].tobytes()


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_denormals_and_huge_numbers(dtype):
    info = np.finfo(dtype)
    x = np.array([info.smallest_subnormal, 5 * info.smallest_subnormal, info.tiny, info.max], dtype)
    for name in ('log', 'log2', 'log10', 'log1p', 'cbrt', 'sin', 'tanh', 'arctan', 'expm1', 'sqrt'):
        with np.errstate(all='ignore'):
            exact = getattr(np, name)(x.astype(np.longdouble)).astype(dtype)
        actual = chx.to_numpy(getattr(chx, name)(chx.array(x)))
        np.testing.assert_array_max_ulp(actual, exact, 3)


@pytest.mark.parametrize('dtype', ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32'])
def test_integer_borders(dtype):
    info = np.iinfo(dtype)
    x1 = np.array([info.min, info.min, info.max, 0, 7, info.max], dtype)
    x2 = np.array([info.max, 0, 0, 0, 0, info.min], dtype)  # info.max is -1 where unsigned
    a, b = chx.array(x1), chx.array(x2)
    zero = x2 == 0
    for name in ('floor_divide', 'remainder', 'fmod'):
        y = chx.to_numpy(getattr(chx, name)(a, b))
        assert (y[zero] == 0).all()
    minus_one = chx.array(np.full(6, -1).astype(dtype))
    if info.min < 0:
        # The one quotient that overflows wraps.
        assert chx.to_numpy(chx.floor_divide(a, minus_one))[0] == info.min
        assert (chx.to_numpy(chx.remainder(a, minus_one)) == 0).all()
        assert chx.to_numpy(chx.power(a, minus_one)).tolist() == [0] * 6
    for count in (info.bits, 2 * info.bits, 120):
        shift = chx.array(np.full(6, count, 'int16'))
        assert (chx.to_numpy(chx.left_shift(a, shift)) == 0).all()
        expected = np.where(x1 < 0, -1, 0)
        assert (chx.to_numpy(chx.right_shift(a, shift)) == expected).all()
