"""Derivatives where formulas fail: large and small arguments, ties, NaN, powers of 0."""

import math

import chainerx as chx
import numpy as np
import pytest

INF, NAN = math.inf, math.nan


def gradients(function, points, dtype='float32'):
    """The function's derivatives at one point, by all its arguments."""
    xs = [chx.array([v], dtype=dtype).require_grad() for v in points]
    function(*xs).backward()
    return [x.grad.tolist()[0] for x in xs]


# The derivatives in a form that neither overflows nor cancels for a double argument.
UNARY = {
    'sqrt': lambda x: 0.5 / math.sqrt(x),
    'cbrt': lambda x: 1 / (3 * np.cbrt(x) ** 2),
    'log': lambda x: 1 / x,
    'log2': lambda x: 1 / x / math.log(2),
    'log10': lambda x: 1 / x / math.log(10),
    'log1p': lambda x: 1 / (1 + x),
    'reciprocal': lambda x: -1 / x / x,
    'arctan': lambda x: 1 / (1 + x * x),
    'arcsinh': lambda x: 1 / math.hypot(x, 1),
    'arccosh': lambda x: 1 / math.sqrt(x - 1) / math.sqrt(x + 1),
    'arcsin': lambda x: 1 / math.sqrt((1 - x) * (1 + x)),
    'arccos': lambda x: -1 / math.sqrt((1 - x) * (1 + x)),
    'arctanh': lambda x: 1 / ((1 - x) * (1 + x)),
    'tan': lambda x: 1 / math.cos(x) ** 2,
    'erf': lambda x: 2 / math.sqrt(math.pi) * math.exp(-x * x),
    'softplus': lambda x: 1 / (1 + math.exp(-x)) if x > -700 else math.exp(x),
    'square': lambda x: 2 * x,
}
SIZES = [1e-25, 1e-12, 1e-4, 0.03, 0.999, 0.9999999, 1.0001, 7.0, 300.0, 4e4, 1e9, 1e18, 1e30]
DOMAIN = {
    'arccosh': (1.00001, INF),
    'arcsin': (-0.99999995, 0.99999995),
    'arccos': (-0.99999995, 0.99999995),
    'arctanh': (-0.99999995, 0.99999995),
    'tan': (-1.5, 1.5),
}


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize('name', UNARY)
def test_unary_at_all_sizes(name, dtype):
    info = np.finfo(dtype)
    low, high = DOMAIN.get(name, (-INF, INF))
    if name.startswith('log') or name == 'sqrt':
        low = 0
    for size in SIZES:
        for x in (size, -size):
            if not float(info.smallest_normal) <= abs(x) <= float(info.max):
                continue
            x = float(np.dtype(dtype).type(x))
            if not low <= x <= high:
                continue
            expected = UNARY[name](x)
            if abs(expected) > float(info.max):
                continue
            found = gradients(getattr(chx, name), [x], dtype)[0]
            # A subnormal result has inevitably lost digits.
            limit = 8 * float(info.eps) * abs(expected) + 3 * float(info.smallest_subnormal)
            assert abs(found - expected) <= limit, f'{name} at {x}: {found}, not {expected}'


def share(x1, x2):
    return 1 / (1 + math.exp(x2 - x1)) if x2 - x1 < 700 else 0.0


def over_norm(x, other):
    h = math.hypot(x, other)
    return x / h / h


BINARY = {
    'arctan2': lambda a, b: (over_norm(b, a), -over_norm(a, b)),
    'hypot': lambda a, b: (a / math.hypot(a, b), b / math.hypot(a, b)),
    'logaddexp': lambda a, b: (share(a, b), share(b, a)),
    'divide': lambda a, b: (1 / b, -(a / b) / b),
}
PAIRS = [(1e20, 1e20), (1e20, -3e19), (1e-25, 1e-25), (-1e-25, 3e-25), (1e15, 1.0), (1.0, 1e-12)]
PAIRS += [(3e2, 4e2), (1e-3, 2e-3), (1e10, 1e10), (-1e10, -1e10), (5.0, 5.0), (0.0, 2.0)]


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize('name', BINARY)
def test_binary_at_all_sizes(name, dtype):
    info = np.finfo(dtype)
    for pair in PAIRS:
        if any(v and not float(info.smallest_normal) <= abs(v) <= float(info.max) for v in pair):
            continue
        points = [float(np.dtype(dtype).type(v)) for v in pair]
        expected = BINARY[name](*points)
        if max(map(abs, expected)) > float(info.max):
            continue
        found = gradients(getattr(chx, name), points, dtype)
        for f, e in zip(found, expected, strict=True):
            limit = 8 * float(info.eps) * abs(e) + 3 * float(info.smallest_subnormal)
            assert abs(f - e) <= limit, f'{name}{tuple(points)}: {found}, not {expected}'


def test_fmod_counts_exactly():
    # The quotient, 2.9999999, rounds to 3 in float32.
    x1, x2 = float(np.nextafter(np.float32(6e7), np.float32(0))), 2e7
    assert gradients(chx.fmod, [x1, x2]) == [1, -2]
    assert gradients(chx.fmod, [-x1, x2]) == [1, 2]


def test_logsumexp_of_large_elements():
    x = chx.array([1e10, 1e10, 0.0], dtype='float32').require_grad()
    chx.logsumexp(x).backward()
    assert x.grad.tolist() == [0.5, 0.5, 0]


def test_swish_far_left():
    x = chx.array([-1e25], dtype='float32').require_grad()
    beta = chx.ones(1).require_grad()
    chx.swish(x, beta).backward()
    assert x.grad.tolist() == [0]
    assert beta.grad.tolist() == [0]


# ---- powers ------------------------------------------------------------------------------------


def second(x1, x2, first, then, dtype='float64'):
    """The derivative by argument `first`, then by argument `then`."""
    xs = [chx.array([v], dtype=dtype).require_grad() for v in (x1, x2)]
    y = chx.power(*xs)
    (g,) = chx.grad([y], [xs[first]], enable_double_backprop=True)
    (gg,) = chx.grad([g], [xs[then]], enable_double_backprop=True)
    return gg.tolist()[0]


@pytest.mark.parametrize('exponent', [0.0, 1.0, 2.0, 2.5, -1.0])
@pytest.mark.parametrize('base', [0.5, 1.0, 3.0])
def test_power_second_derivatives(base, exponent):
    a, b, log = base, exponent, math.log(base)
    mixed = a ** (b - 1) * (1 + b * log)
    assert second(a, b, 0, 1) == pytest.approx(mixed, rel=1e-12)
    assert second(a, b, 1, 0) == pytest.approx(mixed, rel=1e-12)
    assert second(a, b, 0, 0) == pytest.approx(b * (b - 1) * a ** (b - 2), rel=1e-12)
    assert second(a, b, 1, 1) == pytest.approx(a**b * log**2, rel=1e-12)


@pytest.mark.parametrize('exponent', [0.0, 1.5, 2.0, 3.0])
def test_power_of_zero(exponent):
    assert gradients(chx.power, [0.0, exponent]) == [0, 0]
    assert second(0.0, exponent, 0, 1) == 0
    assert second(0.0, exponent, 1, 0) == 0
    assert second(0.0, exponent, 1, 1) == 0


def test_exponents_of_the_number_0():
    """The same as for an array that holds it."""
    x = chx.array([1.0, 2.0, 0.5])
    for base in (0.0, chx.array(0.0)):
        y = x.require_grad()
        for _ in range(3):
            (y,) = chx.grad(
                [(base**x).sum() if y is x else y.sum()], [x], enable_double_backprop=True
            )
            assert y.tolist() == [0, 0, 0]
    assert (
        chx.func.hessian(lambda x: (0.0**x).sum())(chx.array([1.0, 2.0])).tolist() == [[0, 0]] * 2
    )
    z = chx.array([1 + 1j]).require_grad()
    (0.0**z).backward()
    assert z.grad.tolist() == [0]


def test_power_with_exponent_0_at_0():
    for base in (0.0, 1e-42, INF, NAN):
        assert gradients(chx.power, [base, 0.0])[0] == 0, base
    assert gradients(lambda x: x**0, [NAN]) == [0]


def test_power_third_derivative_at_exponent_0():
    # d3 / da2 db of a^b is -1 / a^2 at b = 0.
    a, b = chx.array([2.0]).require_grad(), chx.array([0.0]).require_grad()
    (g,) = chx.grad([a**b], [a], enable_double_backprop=True)
    (g,) = chx.grad([g], [a], enable_double_backprop=True)
    (g,) = chx.grad([g], [b])
    assert g.tolist() == [-0.25]


def test_power_of_two_dtypes():
    """The logarithm of the base has the precision of the result."""
    x2 = chx.array([2.0], dtype='float64').require_grad()
    (chx.array([3], dtype='int32') ** x2).backward()
    assert x2.grad.tolist() == pytest.approx([9 * math.log(3)], rel=1e-14)


def test_power_of_complex_numbers():
    x = chx.array([1 + 2j]).require_grad()
    (x ** (2 + 1j)).backward()
    expected = (2 + 1j) * (1 + 2j) ** (1 + 1j)
    assert x.grad.tolist()[0] == pytest.approx(expected, rel=1e-12)
    x = chx.array([1 + 2j]).require_grad()
    (2j**x).backward()
    assert x.grad.tolist()[0] == pytest.approx(2j ** (1 + 2j) * np.log(2j), rel=1e-12)
    e = chx.array([1 + 2j]).require_grad()
    (chx.array([2j]) ** e).backward()
    assert e.grad.tolist()[0] == pytest.approx(2j ** (1 + 2j) * np.log(2j), rel=1e-12)


# ---- extremes ----------------------------------------------------------------------------------

EXTREMES = [
    ([1, 3, 3, 2], [0, 0.5, 0.5, 0]),
    ([5, 5, 5, 5], [0.25] * 4),
    ([1, NAN, 3, 3], [0, 1, 0, 0]),
    ([NAN, 1, NAN, 9], [0.5, 0, 0.5, 0]),
    ([INF, 1, INF, NAN], [0, 0, 0, 1]),
    ([INF, 1, INF, 2], [0.5, 0, 0.5, 0]),
]


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float32', 'float64'])
@pytest.mark.parametrize(('values', 'shares'), EXTREMES)
def test_extremes_share(values, shares, dtype):
    for function, sign in ((chx.max, 1), (chx.amax, 1), (chx.min, -1), (chx.amin, -1)):
        for keepdims in (False, True):
            x = (chx.array([values, values], dtype=dtype) * sign).require_grad()
            y = function(x, axis=1, keepdims=keepdims)
            y.grad = chx.full_like(y, 4)
            y.backward()
            assert x.grad.tolist() == [[4 * s for s in shares]] * 2
    x = chx.array(values, dtype=dtype).require_grad()
    x.max().backward()
    assert x.grad.tolist() == shares


def test_extreme_of_a_broadcast_element():
    x = chx.array(2.0).require_grad()
    chx.broadcast_to(x, (4,)).max().backward()
    assert x.grad.tolist() == 1


def test_extremes_of_many_in_float16():
    """There are more ties than float16 can count."""
    x = chx.ones(100000, dtype='float16').require_grad()
    y = x.max()
    y.grad = chx.full_like(y, 1000)
    y.backward()
    assert x.grad[0].item() == np.float16(0.01)


def test_extreme_has_second_derivatives_through_the_shares():
    x = chx.array([1.0, 3.0, 3.0]).require_grad()
    (g,) = chx.grad([x.max() ** 2], [x], enable_double_backprop=True)
    assert g.tolist() == [0, 3, 3]
    g[1].backward()
    assert x.grad.tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize(
    ('pair', 'shares'),
    [
        ((1, 2), (0, 1)),
        ((2, 2), (0.5, 0.5)),
        ((0.0, -0.0), (0.5, 0.5)),
        ((NAN, 2), (1, 0)),
        ((2, NAN), (0, 1)),
        ((NAN, NAN), (0.5, 0.5)),
        ((NAN, INF), (1, 0)),
    ],
)
@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
def test_maximum_and_minimum_share(pair, shares, dtype):
    for function, sign in ((chx.maximum, 1), (chx.minimum, -1)):
        a, b = (v * sign for v in pair)
        assert gradients(function, [a, b], dtype) == [*shares]
        # In a tie with a number, the array gets the gradient.
        alone = 1 if shares[0] == 0.5 else shares[0]
        assert gradients(lambda x, f=function, b=b: f(x, b), [a], dtype) == [alone]
        assert gradients(lambda x, f=function, b=b: f(b, x), [a], dtype) == [alone]


# ---- means of many ------------------------------------------------------------------------------


@pytest.mark.parametrize(('dtype', 'eps'), [('float16', 2**-10), ('bfloat16', 2**-7)])
def test_means_of_more_than_16_bits_can_count(dtype, eps):
    """1 / n in float16 is 11 % off, in bfloat16 a fraction of one."""
    n = 5_000_001
    values = np.tile(np.array([-3.0, 1.0, 5.0]), n // 3)
    for function, slopes in (
        (chx.mean, np.ones(3)),
        (chx.var, 2 * np.array([-4.0, 0.0, 4.0])),
        (chx.std, np.array([-4.0, 0.0, 4.0]) / math.sqrt(32 / 3)),
    ):
        x = chx.array(values, dtype=dtype).require_grad()
        y = function(x)
        expected = (
            np.mean(values) if function is chx.mean else getattr(np, function.__name__)(values)
        )
        assert y.item() == pytest.approx(expected, rel=eps)
        y.grad = chx.full_like(y, 30000)
        y.backward()
        found = np.array(x.grad[:3].tolist())
        np.testing.assert_allclose(found, 30000 * slopes / n, rtol=2 * eps)


def check_complex(value, shape):
    """Gradients of first and second order, and of forward mode, against differences."""
    rng = np.random.default_rng(3)
    x, direction, w = (
        chx.array(rng.standard_normal((*shape, 2)).view('complex128')[..., 0]) for _ in range(3)
    )

    def slope(x):
        (g,) = chx.grad([value(x)], [x], enable_double_backprop=True)
        return chx.real(g * w).sum()

    for f in (value, slope):
        leaf = chx.array(x).require_grad()
        (g,) = chx.grad([f(leaf)], [leaf])
        up, down = (f((x + s * direction).require_grad()).item() for s in (1e-6, -1e-6))
        tangent = chx.real(g * direction).sum().item()
        assert tangent == pytest.approx((up - down) / 2e-6, rel=1e-6)
    _, forward = chx.func.jvp(value, (x,), (direction,))
    tangent = chx.real(chx.func.grad(value)(x) * direction).sum().item()
    assert forward.item() == pytest.approx(tangent, rel=1e-12)


def test_sign_of_complex_numbers():
    w = chx.array([[1 + 2j], [3 - 1j]])
    check_complex(lambda x: chx.real(chx.sign(x) * w).sum(), (2, 3))
    x = chx.array([0, 2j, complex(INF, 1), 3e200 + 4e200j]).require_grad()
    chx.real(chx.sign(x) * (1 + 1j)).sum().backward()
    np.testing.assert_allclose(
        chx.to_numpy(x.grad), [0, 0.5, 0, (1.12 + 0.84j) / 5e200], rtol=1e-12
    )
    assert not chx.sign(chx.array([1.0, 0.0]).require_grad()).is_backprop_required()


@pytest.mark.parametrize('name', ['var', 'std'])
@pytest.mark.parametrize('options', [{}, {'axis': 0}, {'axis': 1, 'ddof': 1}])
def test_spread_of_complex_numbers(name, options):
    """Along the conjugate, as for the absolute value; nanvar is composed of other operations."""

    def value(x, name=name):
        return (getattr(chx, name)(x, **options) ** 2).sum()

    check_complex(value, (3, 4))
    x = chx.array([[1 + 2j, 3, -1j], [0.5, 2 - 1j, 4j]])
    g, expected = (chx.func.grad(lambda x, n=n: value(x, n))(x) for n in (name, f'nan{name}'))
    np.testing.assert_allclose(chx.to_numpy(g), chx.to_numpy(expected), 1e-12, 1e-12)


@pytest.mark.parametrize('dtype', ['float32', 'complex128'])
@pytest.mark.parametrize('order', ['nuc', 2, -2, 'fro', 1, np.inf])
def test_norms_of_a_matrix_of_zeros(order, dtype):
    """0, while other matrices beside it have their own gradients."""
    zeros = chx.zeros((2, 3), dtype)
    assert not chx.func.grad(lambda x: chx.linalg.norm(x, order))(zeros).any()
    x = chx.array([[1.0, 2.0, 0.5], [3.0, -1.0, 4.0]], dtype)
    both = chx.stack([zeros, x]).require_grad()
    y = chx.linalg.matrix_norm(both, ord=order)
    (g,) = chx.grad([y.sum()], [both], enable_double_backprop=True)
    expected = chx.func.grad(lambda x: chx.linalg.norm(x, order))(x)
    np.testing.assert_allclose(chx.to_numpy(g[1]), chx.to_numpy(expected), rtol=1e-5)
    assert y[0].item() == 0
    assert not g[0].any()
    if order in ('nuc', 2, -2):
        (g2,) = chx.grad([chx.real(g * g).sum()], [both])
        assert not g2[0].any()


@pytest.mark.parametrize('name', ['std', 'nanstd'])
@pytest.mark.parametrize('options', [{}, {'ddof': 1}, {'where': True}])
def test_spread_of_equal_elements(name, options):
    """0, like the gradient of a norm at 0."""
    if 'where' in options:
        options = {'where': chx.array([True, True, False])}
    x = chx.array([[2.0, 2.0, 2.0], [1.0, 3.0, 4.0]]).require_grad()
    y = getattr(chx, name)(x, axis=1, **options)
    (g,) = chx.grad([y.sum()], [x], enable_double_backprop=True)
    assert g[0].tolist() == [0, 0, 0]
    assert chx.isfinite(g).all().item()
    assert (g[1] != 0).any().item()
    (g2,) = chx.grad([(g * g).sum()], [x])
    assert g2[0].tolist() == [0, 0, 0]
    assert chx.isfinite(g2).all().item()
