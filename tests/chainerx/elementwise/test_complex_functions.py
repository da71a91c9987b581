"""Functions of complex numbers: accuracy, and infinities and NaN as in annex G of C."""

import chainerx as chx
import numpy as np
import pytest

FUNCTIONS = [
    'sqrt',
    'exp',
    'expm1',
    'log',
    'log1p',
    'log2',
    'log10',
    'sin',
    'cos',
    'tan',
    'sinh',
    'cosh',
    'tanh',
    'arcsin',
    'arccos',
    'arctan',
    'arcsinh',
    'arccosh',
    'arctanh',
]


def numbers(dtype, real):
    random = np.random.default_rng(0)
    parts = random.normal(size=(5, 2000, 2)) * np.array([1e-8, 1e-3, 1, 5, 1e6])[:, None, None]
    near_one = 1 + random.normal(size=(2000, 2)) * 1e-4
    axes = [[0.5, 0.0], [2, 0.0], [-2, -0.0], [0.0, 0.5], [-0.0, 2], [0.6, 0.8], [-1, 1e-30]]
    x = np.concatenate([*parts, near_one, near_one - [0, 1], near_one - [2, 1], axes]).astype(real)
    return x.view(dtype)[:, 0]


def reference(name, x):
    if name != 'log1p':
        return getattr(np, name)(x)
    near = np.log1p(x.real * (2 + x.real) + x.imag**2) / 2  # NumPy's loses digits
    real = np.where(abs(x) < 0.5, near, np.log(np.hypot(1 + x.real, x.imag)))
    return real + 1j * np.arctan2(x.imag, 1 + x.real)


@pytest.mark.parametrize('name', FUNCTIONS)
@pytest.mark.parametrize(('dtype', 'real'), [('complex64', 'float32'), ('complex128', 'float64')])
def test_errors_are_a_few_units_in_the_last_place_of_the_magnitude(name, dtype, real):
    x = numbers(dtype, real)
    with np.errstate(all='ignore'):
        wide = 'complex128' if dtype == 'complex64' else np.clongdouble
        expected = reference(name, x.astype(wide))
        result = chx.to_numpy(getattr(chx, name)(chx.array(x))).astype(wide)
        fits = np.isfinite(expected.astype(dtype)) & (np.abs(expected) > np.finfo(real).tiny)
        error = np.abs(result - expected)[fits] / np.abs(expected)[fits]
    assert error.max() < 4 * np.finfo(real).eps


# expm1, exp2 and powers of infinities have no annex to follow.
@pytest.mark.parametrize('name', [n for n in FUNCTIONS if n not in ('expm1', 'log1p')])
@pytest.mark.parametrize('dtype', ['complex64', 'complex128'])
def test_infinities_and_nan_are_as_in_c(name, dtype):
    parts = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]
    x = np.array([complex(a, b) for a in parts for b in parts], dtype)
    with np.errstate(all='ignore'):
        expected = getattr(np, name)(x)
    result = chx.to_numpy(getattr(chx, name)(chx.array(x)))
    for part in ('real', 'imag'):
        e, r = getattr(expected, part), getattr(result, part)
        # Beside a NaN, signs of zeros and infinities are not specified.
        beside = np.isnan(expected) & ~np.isnan(e)
        np.testing.assert_allclose(
            np.where(beside, abs(r), r), np.where(beside, abs(e), e), rtol=1e-5
        )
        exact = ~(np.isnan(x) | np.isnan(expected))
        np.testing.assert_array_equal(np.signbit(r[exact]), np.signbit(e[exact]))


@pytest.mark.parametrize('name', [*FUNCTIONS, 'exp2'])
def test_a_number_does_not_depend_on_its_neighbours(name):
    random = np.random.default_rng(1)
    x = (random.normal(size=(200, 2)) * random.choice([1e-3, 1, 100, 1e30], (200, 1))).view('D')
    together = chx.to_numpy(getattr(chx, name)(chx.array(x[:, 0])))
    alone = [chx.to_numpy(getattr(chx, name)(chx.array(z[:1]))) for z in x]
    np.testing.assert_array_equal(together.view('u8'), np.concatenate(alone).view('u8'))
