"""The gamma function, the normal distribution, and their relatives.

ONNX has none but the error function. The formulas are those of `chainerx.special`, for Terms of
float64 and opset 9; relative errors are some 1e-15, absolute ones near zeros.
"""

from __future__ import annotations

import functools
import math
import sys
import typing as tp

import numpy as np
from numpy.polynomial import chebyshev

import chainerx
from chainerx.onnx._terms import Term

LARGEST: tp.Final = sys.float_info.max


# The gamma function


def _from_nearest(x: Term) -> Term:
    """``x`` less the nearest integer."""
    return x - (x + 0.5).floor()


def _mirrored(x: Term) -> tuple[Term, Term]:
    """Whether x is below 0, and what is there instead."""
    below = x < 0
    return below, below.where(1 - x, x)


def lgamma(x: Term) -> Term:
    """Stirling's series (DLMF 5.11.1) from 8 on, to which the recurrence leads."""
    below, y = _mirrored(x)
    is_small = y < 8
    z = is_small.where(y + 8, y)
    inverse = 1 / z
    series = (inverse * inverse).poly(
        (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
    )
    large = (z - 0.5) * (z.log() - 1) + inverse * series + (math.log(2 * math.pi) - 1) / 2
    start = is_small.where(y, 1)
    way = start
    for k in range(1, 8):
        way = way * (start + k)
    above = large - is_small.where(way.log(), 0)
    sine = (_from_nearest(x) * math.pi).sin().abs()
    reflected = (math.pi / sine).log() - above
    is_end = x.abs() > LARGEST
    return is_end.where(x, below.where(reflected, above))


def digamma(x: Term) -> Term:
    """The asymptotic series (DLMF 5.11.2) from 10 on, to which the recurrence leads."""
    below, y = _mirrored(x)
    z = y + 10
    inverse = 1 / z
    series = (inverse * inverse).poly(
        (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160)
    )
    above = z.log() - inverse * 0.5 - inverse * inverse * series
    for k in reversed(range(10)):
        above = above - 1 / (y + k)
    angle = _from_nearest(x) * math.pi
    sine, cosine = angle.sin(), (math.pi / 2 - angle).sin()
    reflected = above - math.pi * cosine / sine
    is_pole = below & ~sine.cast(bool)
    return is_pole.where(math.nan, below.where(reflected, above))


# B_2k / (2k)!
BERNOULLI: tp.Final = (
    *(1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000),
    *(1 / 74724249600, -3617 / 10670622842880000, 43867 / 5109094217170944000),
    *(-174611 / 802857662698291200000, 77683 / 14101100039391805440000),
    -236364091 / 1693824136731743669452800000,
)


def _zeta_above(s: Term, q: Term, scale: Term | float) -> Term:
    """The sum of ``(scale (q + k)) ** -s`` for s > 1, q > 0: Euler-Maclaurin (DLMF 25.11.7)."""
    n = 10
    terms = [((q + k) * scale) ** -s for k in reversed(range(n))]
    w = q + n
    v = 1 / w
    square = v * v
    # A larger power of w is 0.
    order = (s < 1e6).where(s, 1e6)
    tail = order.of(BERNOULLI[-1])
    for j in reversed(range(len(BERNOULLI) - 1)):
        tail = (order + (2 * j + 1)) * (order + (2 * j + 2)) * square * tail + BERNOULLI[j]
    rest = w / (s - 1) + 0.5 + order * v * tail
    total = functools.reduce(lambda a, b: a + b, terms) + (w * scale) ** -s * rest
    return (q > LARGEST).where(0, total)


def _sign_of_odd(n: Term) -> Term:
    """-1 to the power of an integer."""
    half = n * 0.5
    return (half.floor() < half).where(-1, n.of(1))


def zeta(s: Term, q: Term) -> Term:
    """Hurwitz's zeta function."""
    # Gradients of branches that are not taken are finite.
    has_sum = s > 1
    order, s = s, has_sum.where(s, 2)
    below = ~(q > 0)
    gap = -q - (-q).floor()
    y = _zeta_above(s, below.where(1 - gap, q), 1)
    # For integer s the terms up to 0 and those above are a series each.
    other = _zeta_above(s, below.where(gap, 1), 1) - _zeta_above(s, below.where(1 - q, 1), 1)
    mirrored = (s.floor() < s).where(math.nan, y + _sign_of_odd(s) * other)
    mirrored = gap.cast(bool).where(mirrored, math.inf)
    y = below.where(mirrored, y)
    y = has_sum.where(y, (order < 1).where(math.nan, s.of(math.inf)))
    both = order + q
    is_nan = ~(both > 0) & ~(both < 1)
    return is_nan.where(both, y)


def polygamma(n: Term, x: Term) -> Term:
    """The n-th derivative of `digamma`, for integers up to 170; NaN beyond."""
    last = 170  # the next factorial exceeds float64
    place = (n < 0).where(0, (n > last).where(last, n)).cast(np.int64)
    factorial = n.poly_in(place, [[float(math.factorial(k))] for k in range(last + 1)])
    s = (n > 0).where(n + 1, 2)
    is_above = x > 0
    base = is_above.where(x, 1)
    # A power may be too small where its product with the factorial is not.
    half = (s * 0.5).floor()
    size = factorial * base**-half * base ** (half - s) * _zeta_above(s, base, 1 / base)
    size = is_above.where(size, factorial * zeta(s, x))
    y = (n > 0).where(_sign_of_odd(s) * size, digamma(x))
    return ((n < 0) | (n > last)).where(math.nan, y)


# The normal distribution


@functools.cache
def _erfcx_coefficients() -> tuple[float, ...]:
    """Of ``(1 + 2 x) erfcx(x)`` in ``t = (x - 4) / (x + 4)``: Shepherd and Laframboise, 1981."""

    t = chebyshev.chebpts1(200)
    x = 4 * (1 + t) / (1 - t)
    y = (1 + 2 * x) * chainerx.to_numpy(chainerx.special.erfcx(chainerx.array(x)))
    # The errors of chebinterpolate are ten times as large.
    return tuple(chebyshev.cheb2poly(chebyshev.chebfit(t, y, 26)).tolist())


def _erfcx_above(x: Term) -> Term:
    """``exp(x ** 2) erfc(x)`` for x >= 0."""
    # The quotient is 1 for infinity, whose own would be NaN.
    t = 1 - 8 / (x + 4)
    return t.poly(_erfcx_coefficients()) / (x * 2 + 1)


def _exp_of_square(x: Term, factor: float) -> Term:
    """``exp(factor x ** 2)``, whose argument is split so that its rounding does not matter."""
    x = x.abs()
    x = (x > 40).where(40, x)  # beyond, the result is 0 or infinite
    high = (x * 16).floor() * (1 / 16)
    low = (x - high) * (x + high)
    return (high * high * factor).exp() * (low * factor).exp()


def erfcx(x: Term) -> Term:
    """``exp(x ** 2) erfc(x)``."""
    above = _erfcx_above(x.abs())
    return (x < 0).where(2 * _exp_of_square(x, 1) - above, above)


def erfc(x: Term) -> Term:
    """``1 - erf(x)``, also where it is small."""
    tail = _exp_of_square(x, -1) * _erfcx_above(x.abs())
    return (x < 0).where(2 - tail, tail)


def _normal_tail(x: Term) -> tuple[Term, Term]:
    """The probability of more than ``|x|``, and its quotient by ``exp(-x ** 2 / 2)``."""
    scaled = 0.5 * _erfcx_above(x.abs() * math.sqrt(0.5))
    return scaled * _exp_of_square(x, -0.5), scaled


def ndtr(x: Term) -> Term:
    """The normal distribution."""
    tail, _ = _normal_tail(x)
    return (x > 0).where(1 - tail, tail)


def log_ndtr(x: Term) -> Term:
    """The logarithm of `ndtr`, also where that is 0."""
    tail, scaled = _normal_tail(x)
    # log(1 - p), by the quotient that has the rounding error of 1 - p twice.
    rest = 1 - tail
    lost = 1 - rest
    is_tiny = ~lost.cast(bool)
    above = is_tiny.where(-tail, rest.log() * (tail / is_tiny.where(1, lost)))
    below = scaled.log() - 0.5 * x * x
    return (x < 0).where(below, above)


# Of AS 241, PPND16 (Wichura, Applied Statistics 37, 1988): near 1/2, in tails, in far tails.
NUMERATORS: tp.Final = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7),
)  # fmt: skip
DENOMINATORS: tp.Final = (
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
     5.2264952788528545610e3),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15),
)  # fmt: skip


def _normal_quantile(q: Term, twice_tail: Term) -> Term:
    """The quantile of ``1/2 + q``; ``twice_tail`` is ``1 - 2 |q|`` with all its digits."""
    is_tail = q.abs() > 0.425
    root = (math.log(2) - twice_tail.log()).sqrt()
    is_far = root > 5
    part = is_tail.where(is_far.cast(np.int64) + 1, 0)
    r = is_tail.where(root - is_far.where(5, root.of(1.6)), 0.180625 - q * q)
    ratio = r.poly_in(part, NUMERATORS) / r.poly_in(part, DENOMINATORS)
    outer = (twice_tail > 0).where(ratio, twice_tail.log().abs())
    return is_tail.where((q < 0).where(-outer, outer), q * ratio)


def ndtri(p: Term) -> Term:
    """The inverse of `ndtr`."""
    q = p - 0.5
    return _normal_quantile(q, 2 * (q < 0).where(p, 1 - p))


def erfinv(x: Term) -> Term:
    """The inverse of the error function."""
    return _normal_quantile(x * 0.5, 1 - x.abs()) * math.sqrt(0.5)


def erfcinv(x: Term) -> Term:
    """The inverse of `erfc`."""
    q = 0.5 * (x - 1)
    return _normal_quantile(q, (q < 0).where(x, 2 - x)) * -math.sqrt(0.5)
