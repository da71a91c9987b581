"""The incomplete gamma and beta functions: near and far tails, exponents of any size, inverses."""

import chainerx as chx
import numpy as np
import pytest
import scipy.special
from cases._harness import to_numpy

COUNT = 400
SIZES = [(-3, 0), (0, 1.3), (1.3, 4), (4, 6)]  # powers of 10


def call(name, *xs):
    return to_numpy(getattr(chx.special, name)(*(chx.array(x) for x in xs)))


def exponents(rng, low, high):
    return 10 ** rng.uniform(low, high, COUNT)


def check(found, expected, rtol):
    """Relative errors of probabilities near 0, and of their complements near 1."""
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-290)


@pytest.mark.parametrize('size', SIZES)
def test_gamma(size):
    rng = np.random.default_rng(0)
    a = exponents(rng, *size)
    near = np.abs(a + np.sqrt(a) * 4 * rng.normal(size=COUNT))
    far = 10 ** rng.uniform(-3, 2.7, COUNT)
    # These are SciPy's own errors, found with 60 digits at the worst points.
    rtol = 4e-13 if size[1] <= 1.3 else 1e-11 if size[1] <= 4 else 1e-6
    for x in (near, far) if size[1] <= 4 else (near,):
        check(call('gammainc', a, x), scipy.special.gammainc(a, x), rtol)
        check(call('gammaincc', a, x), scipy.special.gammaincc(a, x), rtol)


@pytest.mark.parametrize('size_b', SIZES)
@pytest.mark.parametrize('size_a', SIZES)
def test_beta(size_a, size_b):
    rng = np.random.default_rng(1)
    a, b = exponents(rng, *size_a), exponents(rng, *size_b)
    mean = a / (a + b)
    scale = np.sqrt(mean * (1 - mean) / (a + b + 1))
    x = np.clip(mean + scale * 4 * rng.normal(size=COUNT), 1e-12, 1 - 1e-12)
    check(call('betainc', a, b, x), scipy.special.betainc(a, b, x), 2e-11)


# Values by mpmath with 60 digits, where SciPy has errors of 0.7 and 1e-13 of the value.
TRUE = [
    ('gammainc', (977375934.5840099, 977232169.2108644), 2.124739346105859e-06),
    ('gammainc', (1071.0810432879364, 632.3368860741494), 7.480389484697889e-57),
    ('gammaincc', (0.5043114186937732, 0.7519346504740514), 0.22225093244862132),
    ('gammaincc', (1e-10, 0.5), 5.597735946661205e-11),
    (
        'betainc',
        (0.36726393793914874, 883373499.042564, 4.3108492100820947e-10),
        0.7160442042251814,
    ),
    ('betainc', (1e9, 1e9, 0.5), 0.5),
    ('betaincc', (0.1, 1.0, 1e-30), 0.999),
    ('betaincc', (1e-3, 50.0, 0.4), 3.9430038382940634e-16),
    ('log_gammainc', (50.0, 1e-5), -724.124050004206),
    ('log_gammainc', (1e4, 100.0), -36157.215927617784),
    ('log_gammainc', (3.0, 200.0), -2.7956093736608836e-83),
    ('log_gammaincc', (0.125, 5e4), -50011.48674185591),
    ('log_gammaincc', (1e4, 1e5), -66981.87042403485),
    ('log_gammaincc', (5.0, 1e200), -1e200),
    ('log_gammaincc', (30.0, 1e200), -1e200),
    ('log_betainc', (50.0, 100.0, 1e-30), -3361.4801412570896),
    ('log_betainc', (3e3, 3e3, 0.01), -9692.027023901494),
    ('log_betainc', (100.0, 0.5, 1e-10), -2305.4612930247067),
    ('log_betaincc', (0.5, 1e4, 0.3), -3571.3251172350774),
    ('log_betaincc', (10.0, 15.0, 1 - 2.0**-53), -536.9683780109666),
    ('log_gamma_density', (1e10, 1e10), -12.431863998183234),
    ('log_gamma_density', (1e6, 1.1e6), -4697.742199750464),
    ('log_beta_density', (3e6, 3e6, 0.5), 7.577843619284771),
    ('log_beta_density', (1e6, 3.0, 0.999), -973.5614561478347),
]


@pytest.mark.parametrize(('name', 'xs', 'expected'), TRUE)
def test_true_values(name, xs, expected):
    assert call(name, *([x] for x in xs))[0] == pytest.approx(expected, rel=2e-13)


@pytest.mark.parametrize('size', SIZES[:3])
def test_inverses(size):
    rng = np.random.default_rng(2)
    a, b = exponents(rng, *size), exponents(rng, -1, 3)
    for p in (rng.uniform(size=COUNT), 10 ** rng.uniform(-150, 0, COUNT)):
        for name in ('gammainc', 'gammaincc'):
            x = call(f'{name}inv', a, p)
            ok = (x > 1e-280) & (p < 0.999)  # else one step of x changes p by many
            np.testing.assert_allclose(call(name, a, x)[ok], p[ok], rtol=1e-12)
        x = call('betaincinv', a, b, p)
        ok = (x > 1e-280) & (x < 0.5)
        np.testing.assert_allclose(call('betainc', a, b, x)[ok], p[ok], rtol=1e-12)
        assert ((x >= 0) & (x <= 1)).all()


def test_huge_and_tiny_arguments_end_soon():
    values = [0.0, 5e-324, 1e-300, 1e-5, 0.5, 1.0, 20.0, 1e9, 1e18, 1e300, np.inf, np.nan, -1.0]
    a, b, x = (v.ravel() for v in np.meshgrid(values, values, values))
    assert (call('gammainc', a, x)[(a >= 0) & (x >= 0)] <= 1).sum() > 0
    for name in ('gammainc', 'gammaincc', 'gammaincinv', 'gammainccinv'):
        y = call(name, a, x)
        assert not (y < 0).any()
    for name in ('betainc', 'betaincc', 'betaincinv'):
        y = call(name, a, b, x)
        assert not ((y < 0) | (y > 1)).any()
    for name, xs in (('log_gammainc', (a, x)), ('log_betainc', (a, b, x))):
        for side in (name, f'{name}c'):
            inputs = [chx.array(v).require_grad() for v in xs]
            y = getattr(chx.special, side)(*inputs)
            y.sum().backward()
            assert not (to_numpy(y) > 0).any()


def test_both_probabilities_are_one():
    rng = np.random.default_rng(3)
    a, x = exponents(rng, -2, 5), exponents(rng, -2, 5)
    np.testing.assert_allclose(call('gammainc', a, x) + call('gammaincc', a, x), 1, rtol=1e-15)


def derivatives(f, xs, n):
    x = chx.array(xs, 'float64').require_grad()
    y, found = f(x), []
    for _ in range(n):
        (y,) = chx.grad([y.sum()], [x], enable_double_backprop=True)
        found.append(y.tolist())
    return found


def test_second_derivatives_at_the_ends():
    """Of polynomials times exp(-x), and of polynomials."""
    inf = np.inf
    for a, expected in (
        (1, [1, -1, 1]),
        (2, [0, 1, -2]),
        (3, [0, 0, 1]),
        (4, [0, 0, 0]),
        (1.5, [0, inf, -inf]),
        (0.5, [inf, -inf, inf]),
    ):
        for by in (a, chx.array(float(a))):
            found = derivatives(lambda x, a=by: chx.special.gammainc(a, x), [0.0], 3)
            assert found == [[e] for e in expected]
            found = derivatives(lambda x, a=by: chx.special.gammaincc(a, x), [0.0], 3)
            assert found == [[-e] for e in expected]
    for a, b, expected in (
        (1, 1, [[1, 1], [0, 0], [0, 0]]),
        (2, 1, [[0, 2], [2, 2], [0, 0]]),
        (1, 2, [[2, 0], [-2, -2], [0, 0]]),
        (3, 1, [[0, 3], [0, 6], [6, 6]]),
        (2, 3, [[0, 0], [12, 0], [-48, 24]]),
        (0.5, 0.5, [[inf, inf], [-inf, inf], [inf, inf]]),
    ):
        for by in ((a, b), (chx.array(float(a)), b), (a, chx.array(float(b)))):
            found = derivatives(lambda x, by=by: chx.special.betainc(*by, x), [0.0, 1.0], 3)
            assert found == expected
    x = chx.array(0.0, 'float64')
    assert chx.func.hessian(lambda x: chx.special.gammainc(2.0, x))(x).item() == 1


def test_scalars_in_the_place_of_arrays():
    x = chx.array([0.25, 0.5], 'float32')
    for y in (
        chx.special.betainc(2, 3.0, x),
        chx.special.betainc(chx.array([2.0, 2.0], 'float32'), 3, x),
        chx.special.betainc(2, chx.array([3.0, 3.0], 'float32'), x),
    ):
        assert y.dtype == 'float32'
        np.testing.assert_allclose(to_numpy(y), scipy.special.betainc(2, 3, [0.25, 0.5]), 1e-6)
    y = chx.special.betainc(2, 3, chx.array(0.5))
    assert float(y) == pytest.approx(scipy.special.betainc(2, 3, 0.5))
    y = chx.special.betainc(2, 3, 0.5)
    assert (y.shape, y.dtype, float(y)) == ((), 'float32', 0.6875)
    with pytest.raises(TypeError, match='b'):
        chx.special.betainc(2, '3', x)


SLOPES = [
    ('gammainc', (0.3, 0.2)),
    ('gammainc', (0.8, 3.0)),
    ('gammaincc', (7.0, 5.0)),
    ('gammaincc', (7.0, 11.0)),
    ('gammainc', (300.0, 280.0)),
    ('gammaincc', (300.0, 330.0)),
    ('gammaincinv', (2.5, 0.3)),
    ('gammainccinv', (40.0, 0.01)),
    ('betainc', (0.4, 0.7, 0.2)),
    ('betainc', (0.4, 0.7, 0.9)),
    ('betainc', (3.0, 50.0, 0.02)),
    ('betainc', (3.0, 50.0, 0.2)),
    ('betainc', (50.0, 3.0, 0.9)),
    ('betainc', (300.0, 200.0, 0.55)),
    ('betainc', (300.0, 200.0, 0.65)),
    ('betaincinv', (3.0, 5.0, 0.7)),
]


@pytest.mark.parametrize(('name', 'point'), SLOPES)
def test_slopes_in_exponents(name, point):
    """Compared with differences of SciPy's values at three points each."""
    xs = [chx.array([v]).require_grad() for v in point]
    getattr(chx.special, name)(*xs).backward()
    for k, x in enumerate(xs):
        h = 1e-4 * min(point[k], abs(1 - point[k]) if k == len(xs) - 1 else point[k])

        def at(steps, k=k, h=h):
            moved = [v + steps * h * (j == k) for j, v in enumerate(point)]
            return getattr(scipy.special, name)(*moved)

        slope = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
        assert float(x.grad) == pytest.approx(slope, rel=2e-7), k


# Values by mpmath with 50 digits.
LOG_SLOPES = [
    ('log_gammainc', (2.5, 0.3), (-2.3324281553049833, 7.632968466436911)),
    ('log_gammainc', (50.0, 1e-05), (-15.434915142242795, 4999999.019607847)),
    ('log_gammainc', (5.0, 1e-80), (-185.91292510795546, 5.000000000000001e80)),
    ('log_gammainc', (10000.0, 100.0), (-4.605221195049678, 99.00010099969296)),
    ('log_gammaincc', (2.5, 0.3), (0.0283213385011584, -0.09268276204561635)),
    ('log_gammaincc', (0.125, 50000.0), (19.20829094695619, -1.0000174996500202)),
    ('log_gammaincc', (10000.0, 100000.0), (2.3026462046641543, -0.9000111109602256)),
    ('log_betainc', (2.0, 3.0, 0.4), (-0.4589736587034233, 0.2979122263978635, 3.292682926829268)),
    (
        'log_betainc',
        (3000.0, 3000.0, 0.01),
        (-3.9122763963634792, 0.6831835851531064, 296971.7370779622),
    ),
    ('log_betainc', (10.0, 0.5, 1e-40), (-92.15215527453086, 4.26651106031911, 1e41)),
    (
        'log_betaincc',
        (2.0, 3.0, 0.4),
        (0.506880000184252, -0.3290074419478089, -3.6363636363636367),
    ),
    (
        'log_betaincc',
        (0.5, 10000.0, 0.3),
        (9.970110822505124, -0.3567249310311951, -14287.380397204637),
    ),
    (
        'log_betaincc',
        (3000.0, 40.0, 0.9999999999990905),
        (0.013247419973651121, -23.40776628473542, -43980465108114.15),
    ),
]


@pytest.mark.parametrize(('name', 'point', 'slopes'), LOG_SLOPES)
def test_slopes_of_logarithms(name, point, slopes):
    xs = [chx.array([v]).require_grad() for v in point]
    getattr(chx.special, name)(*xs).backward()
    assert [float(x.grad) for x in xs] == pytest.approx(slopes, rel=1e-11)


@pytest.mark.parametrize('name', ['gammainc', 'gammaincc', 'gammaincinv', 'gammainccinv'])
def test_exponents_of_gamma_have_no_second_gradient(name):
    a, x = (chx.array([v]).require_grad() for v in (2.0, 0.5))
    (ga,) = chx.grad([getattr(chx.special, name)(a, x)], [a], enable_double_backprop=True)
    (mixed,) = chx.grad([ga], [x], enable_double_backprop=True)
    assert np.isfinite(to_numpy(mixed)).all()
    with pytest.raises(chx.ChainerxError, match='gammainc: a has no second gradient'):
        ga.backward()


@pytest.mark.parametrize('name', ['betainc', 'betaincinv'])
def test_exponents_of_beta_have_no_second_gradient(name):
    for key in 'ab':
        xs = [chx.array([v]) for v in (2.0, 3.0, 0.5)]
        exponent = xs['ab'.index(key)].require_grad()
        y = getattr(chx.special, name)(*xs)
        (g,) = chx.grad([y], [exponent], enable_double_backprop=True)
        with pytest.raises(chx.ChainerxError, match=r'betainc: .* has no second gradient'):
            g.backward()


@pytest.mark.parametrize(('a', 'x'), [(0.3, 1e-3), (3.0, 700.0), (1e4, 9.9e3), (1e8, 1.0001e8)])
def test_slope_of_gammainc(a, x):
    """The logarithms of the factors are so large that their difference would lose its digits."""
    xs = chx.array([x]).require_grad()
    chx.special.gammainc(a, xs).backward()
    h = x * 1e-7 if a < 1e6 else 10.0
    slope = (scipy.special.gammaincc(a, x - h) - scipy.special.gammaincc(a, x + h)) / (2 * h)
    assert float(xs.grad) == pytest.approx(slope, rel=1e-6)
