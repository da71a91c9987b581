"""chainerx.special: accuracy, and properties that the table can't express."""

import functools
import json
import math
import pathlib

import chainerx as chx
import numpy as np
import pytest
import scipy.special
from cases._harness import to_numpy

VALUES = json.loads((pathlib.Path(__file__).parents[1] / 'data' / 'special.json').read_text())
BETALN = VALUES.pop('betaln')
# Maximum errors in units in the last place, as the docstrings say.
LIMITS = {'lgamma': 5, 'log_ndtr': 5, 'polygamma': 16, 'polygamma/high': 8000, 'zeta': 16}


def special(name, *xs):
    with np.errstate(all='ignore'):
        return to_numpy(getattr(chx.special, name.split('/')[0])(*(chx.array(x) for x in xs)))


@pytest.mark.parametrize('name', VALUES)
def test_values_are_near_the_true_ones(name):
    *xs, expected = np.array(VALUES[name]).T
    error = np.abs(special(name, *xs) - expected) / np.spacing(np.abs(expected))
    k = error.argmax()
    point = [float(x[k]) for x in xs]
    # The expected value is rounded by up to half a unit.
    assert error[k] <= LIMITS.get(name, 4) + 0.5, f'{name}{point}: off by {error[k]} units'


@pytest.mark.parametrize('name', [n for n, rows in VALUES.items() if len(rows[0]) == 2])
def test_whole_range_of_float32(name):
    """Computed in double: the error is hardly more than the rounding."""
    rng = np.random.default_rng(0)
    near = np.concatenate([rng.uniform(-40, 40, 4000), rng.uniform(0, 2, 4000)]).astype('float32')
    x = np.concatenate([rng.integers(0, 2**32, 20000, dtype=np.uint32).view(np.float32), near])
    if name in ('lgamma', 'digamma'):
        x = x[~(x < 0)]  # SciPy loses digits there
    with np.errstate(all='ignore'):
        reference = {'lgamma': 'gammaln', 'digamma': 'psi'}.get(name, name)
        expected = getattr(scipy.special, reference)(x.astype('float64'))
        rounded = expected.astype('float32')
    found = special(name, x)
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(found[~finite], rounded[~finite])
    unit = np.spacing(np.maximum(np.abs(rounded[finite]), np.finfo('float32').tiny))
    error = np.abs(found[finite] - expected[finite]) / unit
    k = error.argmax()
    assert error[k] <= 0.6, f'{name}({x[finite][k]}): off by {error[k]} units'


def test_lgamma_and_digamma_below_zero():
    """Here they are sums of terms of both signs; SciPy's sine loses digits near integers."""
    x = np.random.default_rng(1).uniform(-60, 0, 3000)
    x = x[np.abs(x - np.rint(x)) > 0.05]
    expected = scipy.special.gammaln(x)
    assert (np.abs(special('lgamma', x) - expected) < 1e-14 * (10 + np.abs(expected))).all()
    expected = scipy.special.psi(x)
    terms = np.abs(expected) + np.abs(scipy.special.psi(1 - x))
    assert (np.abs(special('digamma', x) - expected) < 1e-13 * terms).all()
    assert special('digamma', [-35.998190369230414])[0] == pytest.approx(-548.9956676831914, 1e-15)


def test_polygamma_whose_factors_are_out_of_range():
    assert special('polygamma', [171.0], [-2.25])[0] == math.inf
    assert special('polygamma', [50.0], [1e9])[0] == 0
    assert special('polygamma', [300.0, 3.0], [math.inf] * 2).tolist() == [0, 0]


@pytest.mark.parametrize('x', [-30.0, -3.0, 0.0, 3.0, 100.0, 1e9, 1e150])
def test_slope_of_erfcx(x):
    """2 x erfcx(x) - 2 / sqrt(pi) would lose all digits for large x."""
    xs = chx.array([x]).require_grad()
    chx.special.erfcx(xs).backward()
    if x > 50:
        v = 1 / (x * x)
        expected = -v / math.sqrt(math.pi) * (1 - v * (1.5 - v * (3.75 - v * 13.125)))
    else:
        expected = 2 * x * scipy.special.erfcx(x) - 2 / math.sqrt(math.pi)
    assert float(xs.grad) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize('x', [-1e6, -300.0, -5.0, 0.0, 5.0, 300.0])
def test_slope_of_log_ndtr(x, dtype):
    """The density and the probability underflow, their quotient does not."""
    xs = chx.array([x], dtype).require_grad()
    chx.special.log_ndtr(xs).backward()
    expected = math.sqrt(2 / math.pi) / float(scipy.special.erfcx(-x / math.sqrt(2)))
    rtol = 1e-14 if dtype == 'float64' else 5e-7
    assert float(xs.grad) == pytest.approx(expected, rel=rtol, abs=1e-45)


def derivatives(f, xs, dtype, n):
    """The first n of them at each point."""
    x = chx.array(np.asarray(xs), dtype).require_grad()
    y, found = f(x), []
    for _ in range(n):
        (y,) = chx.grad([y.sum()], [x], enable_double_backprop=True)
        found.append(to_numpy(y).astype('float64'))
    return found


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_bend_of_log_ndtr(dtype):
    """-h (x + h) of the derivative h cancels on the left, and underflows on the right."""
    xs = np.array([-1e4, -30, -3.0, 0.0, 2.0, 9.0, 13.6, 40.0, 1e4, math.inf], dtype)
    _, bend, third = derivatives(chx.special.log_ndtr, xs, dtype, 3)
    x = xs[:7].astype('float64')
    h = math.sqrt(2 / math.pi) / scipy.special.erfcx(x / -math.sqrt(2))
    expected = -h * (x + h)
    rtol = 1e-12 if dtype == 'float64' else 2e-6
    np.testing.assert_allclose(bend[1:7], expected[1:7], rtol, 1e-38)
    assert bend[0] == pytest.approx(-1, rel=1e-6)
    assert np.abs(bend[7:]).max() == 0
    assert np.abs(third[7:]).max() == 0


BESSEL = [0, 1e-20, 1e-8, 1e-4, -1e-4, 0.01, 0.5, -1.0, 3.0, 7.9, 8.1, -20.0, 24.9, 25.1, 60.0]


def _of_bessel(order, n, x):
    """Derivative n of I of that order, a mean of others (DLMF 10.29.5)."""
    k = np.arange(n + 1)
    return (scipy.special.binom(n, k) * scipy.special.iv(order - n + 2 * k, x)).sum() / 2**n


@functools.cache
def _quadrature():
    return np.polynomial.legendre.leggauss(400)


def _of_scaled_bessel(order, n, x):
    """Of exp(-|x|) I, by what is left of the integral: at 0 without the jump."""
    t, w = _quadrature()
    angle = (t + 1) * math.pi / 2
    part = 1 - np.cos(angle)
    values = (-part) ** n * np.exp(-abs(x) * part) * (np.cos(angle) if order else 1)
    odd = (n + order) % 2
    return (w * values).sum() / 2 * (np.sign(x) if odd else 1)


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize('name', ['i0', 'i1', 'i0e', 'i1e'])
def test_derivatives_of_bessel_functions(name, dtype):
    """Up to the third, relative to their size, which is small if terms cancel."""
    order = int(name[1])
    reference = _of_scaled_bessel if name.endswith('e') else _of_bessel
    xs = np.array(BESSEL, dtype)
    for n, found in enumerate(derivatives(getattr(chx.special, name), xs, dtype, 3), 1):
        expected = np.array([reference(order, n, float(x)) for x in xs])
        np.testing.assert_allclose(found, expected, 1e-6 if dtype == 'float32' else 2e-12, 0)


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_derivatives_of_scaled_bessel_functions_far_away(dtype):
    for x in (1e4, 1e8):
        for order in (0, 1):
            first, second, third = derivatives(
                getattr(chx.special, f'i{order}e'), [x, -x], dtype, 3
            )
            y = 1 / math.sqrt(2 * math.pi * x)
            assert first.tolist() == pytest.approx(
                [-y / (2 * x), (-1) ** order * y / (2 * x)], rel=2e-4
            )
            assert abs(second).tolist() == pytest.approx([0.75 * y / x**2] * 2, rel=5e-4)
            assert abs(third).tolist() == pytest.approx([15 / 8 * y / x**3] * 2, rel=1e-3)


def test_slopes_at_the_ends():
    for name, ends in (('erfinv', (-1, 1)), ('erfcinv', (0, 2)), ('ndtri', (0, 1))):
        x = chx.array(ends, 'float64').require_grad()
        y = getattr(chx.special, name)(x)
        y.grad = chx.ones_like(y)
        y.backward()
        assert np.isinf(to_numpy(x.grad)).all(), name


def test_scalars_on_either_side():
    x = chx.array([0.5, 2.5], 'float32')
    assert chx.special.polygamma(1, x).dtype == 'float32'
    assert chx.special.zeta(2, x).dtype == 'float32'
    np.testing.assert_allclose(
        to_numpy(chx.special.zeta(x + 1, 2.0)), scipy.special.zeta([1.5, 3.5], 2.0), rtol=1e-6
    )
    np.testing.assert_allclose(
        to_numpy(chx.special.polygamma(chx.array([0, 1]), 2.0)),
        scipy.special.polygamma([0, 1], 2.0),
        rtol=1e-6,
    )
    for function, name in ((chx.special.polygamma, 'n'), (chx.special.zeta, 'x')):
        with pytest.raises(TypeError, match=f'{name}'):
            function('2', x)
        assert float(function(2, 1)) == pytest.approx(
            getattr(scipy.special, function.__name__)(2, 1)
        )


@pytest.mark.parametrize(('name', 'operand'), [('polygamma', 'n'), ('zeta', 'x')])
def test_order_and_exponent_have_no_gradient(name, operand):
    x = chx.array([2.0, 3.0]).require_grad()
    q = chx.array([1.5, 2.5]).require_grad()
    y = getattr(chx.special, name)(x.as_grad_stopped(), q).sum()
    assert np.isfinite(to_numpy(chx.grad([y], [q])[0])).all()
    y = getattr(chx.special, name)(x, q).sum()
    with pytest.raises(chx.ChainerxError, match=f'{name}: {operand} has no gradient'):
        y.backward()
    assert x.grad is None


def test_other_names():
    assert chx.special.gammaln is chx.special.lgamma
    assert chx.special.psi is chx.special.digamma
    assert chx.special.erf is chx.erf


def test_products_with_logarithms():
    nan = math.nan
    for name in ('xlogy', 'xlog1py'):
        assert np.isnan(special(name, [nan, nan], [1.0, 0.0])).all()
    x, y = (chx.array([0.0, 2.0], 'float64').require_grad() for _ in range(2))
    chx.special.xlogy(x, y).sum().backward()
    assert y.grad.tolist() == [0, 1]
    assert x.grad.tolist() == [-math.inf, math.log(2)]
    tiny, huge = 1e-300, 1e300
    assert special('rel_entr', [huge], [tiny])[0] == pytest.approx(huge * math.log(10) * 600, 1e-14)
    near = special('rel_entr', [1.0], [1.0 + 2**-50])[0]
    assert near == pytest.approx(-(2**-50), 1e-14)
    half = special('logit', [0.5 + 2**-40, 0.5 - 2**-53])
    np.testing.assert_allclose(half, [2**-38, -(2**-51)], 1e-14)


@pytest.mark.parametrize(('a', 'b', 'value', 'by_a', 'by_b', 'bend'), BETALN)
def test_betaln_of_large_operands(a, b, value, by_a, by_b, bend):
    for swap in (False, True):
        p, q = (chx.array(v).require_grad() for v in ((b, a) if swap else (a, b)))
        result = chx.special.betaln(p, q)
        np.testing.assert_allclose(result.item(), value, rtol=2e-15)
        gs = chx.grad([result], [p, q], enable_double_backprop=True)
        np.testing.assert_allclose([g.item() for g in gs][:: -1 if swap else 1], [by_a, by_b], 1e-7)
        second = chx.grad([gs[swap]], [(p, q)[swap]])[0]
        np.testing.assert_allclose(second.item(), bend, rtol=1e-6)


def test_betaln_of_large_operands_in_float32():
    found = special('betaln', np.float32([1e8, 1e8, 30]), np.float32([0.1, 1e8, 1e6]))
    expected = scipy.special.betaln([1e8, 1e8, 30], [np.float32(0.1), 1e8, 1e6])
    np.testing.assert_allclose(found, expected, rtol=1e-6)
