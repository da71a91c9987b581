"""Writes special.json: values of chainerx.special in 50 digits, rounded to float64.

    python tests/chainerx/data/make_special.py

mpmath is needed, which the tests themselves do without.
"""

import json
import pathlib
import random

import mpmath
from mpmath import mpf

COUNT = 20  # points in each range
RANGES = {
    'erfc': [(-6, 6), (0, 26)],
    'erfcx': [(-26, 0), (0, 1), (0, 1000)],
    'ndtr': [(-37, 0), (-1, 1), (0, 8)],
    'log_ndtr': [(-1000, 0), (-1, 1), (0, 36)],
    'ndtri': [(0, 1), (0.49, 0.51), (-300, 0, 'exponent')],
    'erfinv': [(-1, 1), (-0.01, 0.01), (0.999, 1)],
    'erfcinv': [(0, 2), (0.99, 1.01), (-300, 0, 'exponent')],
    'i0': [(-9, 9), (0, 30), (-700, 700), (7.9, 8.1)],
    'i0e': [(-9, 9), (0, 30), (-300, 300, 'exponent'), (7.9, 8.1)],
    'i1': [(-9, 9), (0, 30), (-700, 700), (7.9, 8.1)],
    'i1e': [(-9, 9), (0, 30), (-300, 300, 'exponent'), (7.9, 8.1)],
    'lgamma': [(0, 1), (1, 3), (3, 20), (-300, 0, 'exponent'), (1, 300, 'exponent')],
    'digamma': [(0, 1), (1, 3), (3, 20), (-300, 0, 'exponent'), (1, 300, 'exponent')],
}
PAIRS = {
    'polygamma': [((1, 8), (0, 30)), ((1, 4), (-4, 0))],
    'polygamma/high': [((20, 170), (0, 300)), ((171, 300), (40, 300)), ((30, 90), (1e5, 1e6))],
    'zeta': [((1.01, 8), (0, 30)), ((1.01, 2), (100, 1e6)), ((20, 50), (0.5, 3))],
}
# The derivatives that betaln needs besides its value: both first ones, and the second one by a.
BETALN = [
    (1e16, 3.0),
    (1e8, 0.1),
    (12.0, 1e-9),
    (1e5, 1e5),
    (1e15, 1e14),
    (10.0, 10.0),
    (3.0, 3.0),
    (9.99, 200.0),
    (-0.5, 1e10),
    (-20.5, 35.0),
]


def _erfcx(x):
    return mpmath.exp(x * x) * mpmath.erfc(x)


def _scaled_bessel(order, x):
    return mpmath.besseli(order, x) * mpmath.exp(-abs(x))


def _quantile(upper):
    """The point above which a normal number lies with this probability."""
    with mpmath.workdps(80):
        size = mpmath.sqrt(-2 * mpmath.log(min(upper, 1 - upper)))
        guess = size if upper < 0.5 else -size

        def off(x):
            tail = mpmath.erfc(abs(x) / mpmath.sqrt(2)) / 2
            return mpmath.log(tail) - mpmath.log(min(upper, 1 - upper))

        if abs(upper - 0.5) < 0.2:
            return mpmath.findroot(
                lambda x: mpmath.erfc(x / mpmath.sqrt(2)) / 2 - upper, (0.5 - upper) * 2.5
            )
        return mpmath.findroot(off, guess, tol=mpf(10) ** -60)


FUNCTIONS = {
    'erfc': mpmath.erfc,
    'erfcx': _erfcx,
    'ndtr': lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    'log_ndtr': lambda x: mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2),
    'ndtri': lambda p: -_quantile(p),
    'erfinv': lambda y: _quantile((1 - y) / 2) / mpmath.sqrt(2),
    'erfcinv': lambda y: _quantile(y / 2) / mpmath.sqrt(2),
    'i0': lambda x: mpmath.besseli(0, x),
    'i0e': lambda x: _scaled_bessel(0, x),
    'i1': lambda x: mpmath.besseli(1, x),
    'i1e': lambda x: _scaled_bessel(1, x),
    'lgamma': mpmath.loggamma,
    'digamma': mpmath.digamma,
    'polygamma': lambda n, x: mpmath.polygamma(int(n), x),
    'polygamma/high': lambda n, x: mpmath.polygamma(int(n), x),
    'zeta': mpmath.zeta,
}


def _betaln(a, b):
    value = mpmath.log(abs(mpmath.gamma(a))) if a < 0 else mpmath.loggamma(a)
    value += mpmath.loggamma(b) - mpmath.loggamma(a + b)
    slopes = [mpmath.digamma(x) - mpmath.digamma(a + b) for x in (a, b)]
    return [value, *slopes, mpmath.psi(1, a) - mpmath.psi(1, a + b)]


def _draw(rng, low, high, kind=''):
    x = rng.uniform(low, high)
    return 10.0**x if kind == 'exponent' else x


def main():
    mpmath.mp.dps = 450  # erfc of 26 is 10^-296, which log_ndtr subtracts from 1
    values = {}
    for name, function in FUNCTIONS.items():
        rng = random.Random(name)
        if name in RANGES:
            points = [(_draw(rng, *r),) for r in RANGES[name] for _ in range(COUNT)]
        else:
            points = [
                (
                    float(round(rng.uniform(*first)))
                    if 'polygamma' in name
                    else rng.uniform(*first),
                    rng.uniform(*second),
                )
                for first, second in PAIRS[name]
                for _ in range(COUNT)
            ]
        if name in ('ndtri', 'erfinv', 'erfcinv'):
            mpmath.mp.dps = 50
        values[name] = [[*xs, float(function(*map(mpf, xs)))] for xs in points]
        mpmath.mp.dps = 450
    with mpmath.workdps(60):
        values['betaln'] = [[*xs, *map(float, _betaln(*map(mpf, xs)))] for xs in BETALN]
    path = pathlib.Path(__file__).with_name('special.json')
    rows = ',\n'.join(f' "{name}": {json.dumps(row)}' for name, row in values.items())
    path.write_text(f'{{\n{rows}\n}}\n')


if __name__ == '__main__':
    main()
