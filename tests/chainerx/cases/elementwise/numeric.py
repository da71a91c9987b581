"""Extremes without NaN, the parts of numbers, rounding, angles; whether arrays are close."""

import numpy as np
from cases._promotion import math
from cases._table import ALL, BOOL, COMPLEX, INTS, REAL, Case, c, call, f, own

INF, NAN = np.inf, np.nan


def _unary(name, ref, dtypes=REAL, **kw):
    x = kw.pop('x', f(2, 3))
    kw.setdefault('maybe', BOOL)
    return Case(name, ref, [x], sig='x', dtypes=dtypes, elastic=True, **kw)


def _binary(name, ref, dtypes=REAL, **kw):
    xs = kw.pop('xs', [f(2, 3), f(2, 3)])
    return Case(name, ref, xs, sig='x1, x2', dtypes=dtypes, elastic=True, binary=True, **kw)


def _whole(ref):
    """NumPy has these functions for integers only; for bool they are or and and."""
    return lambda x1, x2: ref(np.asarray(x1, 'i8'), np.asarray(x2, 'i8'))


def _round(a, decimals=0):
    """Rounds exact decimals; NumPy multiplies, and may round the wrong way near a half."""
    if a.dtype.kind in 'iu':
        unit = 10 ** max(-decimals, 0)
        low, rest = a // unit * unit, a % unit
        return low + unit * ((2 * rest > unit) | ((2 * rest == unit) & (a // unit % 2 == 1)))
    return np.round(a, decimals)


def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    return np.nan_to_num(x, copy, nan, posinf, neginf)


def _special(dtype):
    return own(dtype, 2, 3, data=[[1.5, NAN, -2], [INF, -INF, 0.25]])


def _pair(name, ref, dtypes=REAL, **kw):
    kw.setdefault('maybe', BOOL)
    return Case(name, ref, dtypes=dtypes, multi=tuple, **kw)


_CLOSE = [
    call(own('float64', 2, 3), own('float64', 2, 3)),
    call(c([1.0, 1.00001, 2, NAN, INF, -INF, INF], 'float64'), c([1, 1, 2.1, NAN, INF, INF, 0])),
    call(c([1.0, 1.05, NAN]), c([1.0, 1.0, NAN]), rtol=0.1),
    call(c([1.0, 1.05, NAN]), c([1.0, 1.0, NAN]), rtol=0, atol=0.1, equal_nan=True),
    call(f(3, 1, lo=0, hi=2), f(4, lo=0, hi=2), atol=0.5),
    call(f(0), f(0)),
    call(f(), f()),
]

CASES = [
    *(
        _binary(
            name,
            ref,
            BOOL + REAL,
            bools='pair',
            scalar=True,
            maybe=COMPLEX,
            xs=[f(2, 3, lo=0, hi=3), f(2, 3, lo=-4, hi=-0.5)],
            border={(1.0, NAN): 1.0, (NAN, -2.0): -2.0, (NAN, NAN): NAN, (-INF, 1.0): at},
        )
        for name, ref, at in (('fmax', np.fmax, 1.0), ('fmin', np.fmin, -INF))
    ),
    _binary(
        'heaviside',
        np.heaviside,
        out='float',
        maybe=BOOL,
        bools='any',
        diff=(1,),
        xs=[f(2, 3, lo=-1, hi=1, avoid=(0,)), f(2, 3)],
        border={
            (0.0, 0.5): 0.5,
            (-0.0, 2.0): 2.0,
            (INF, 3.0): 1.0,
            (-1.0, NAN): 0.0,
            (0.0, NAN): NAN,
        },
    ),
    _binary(
        'logaddexp2',
        np.logaddexp2,
        out='float',
        maybe=BOOL,
        bools='any',
        tol=2,
        border={(-INF, 0.0): 0.0, (-INF, -INF): -INF, (1e4, 0.0): 1e4, (1.0, 1.0): 2.0},
    ),
    _binary(
        'float_power',
        np.float_power,
        out=lambda *d: 'complex128' if {*d} & {*COMPLEX} else 'float64',
        maybe=BOOL + COMPLEX,
        bools='any',
        diff=(),
        tol=4,
        xs=[f(2, 3, lo=0.3, hi=3), f(2, 3, lo=-2, hi=3)],
    ),
    Case(
        'float_power',
        np.float_power,
        [f(2, 3, lo=0.3, hi=3), f(2, 3, lo=-2, hi=3)],
        dtypes=('float64',),
        unchecked=tuple(d for d in ALL if d != 'float64'),
    ),
    *(
        _binary(name, _whole(ref), INTS, maybe=BOOL, bools='any', order=0, xs=[f(2, 3, hi=60)] * 2)
        for name, ref in (('gcd', np.gcd), ('lcm', np.lcm))
    ),
    *(
        _unary(name, ref, out='float', x=f(2, 3), border={INF: INF, NAN: NAN})
        for name, ref in (
            ('degrees', np.degrees),
            ('radians', np.radians),
        )
    ),
    _unary(
        'bitwise_count',
        lambda x: np.bitwise_count(np.asarray(x, 'i8')),
        INTS,
        out='uint8',
        order=0,
        x=f(2, 3, lo=-100, hi=100),
        # Cast to it first, -3 would have 7 bits.
        errors=[(call(c([-3], 'int16'), dtype='uint8'), 'TypeError', 'dtype')],
    ),
    _unary(
        'sinc',
        np.sinc,
        BOOL + REAL + COMPLEX,
        out='float',
        tol=4,
        calls=[call(c([0.0, 1e-9, -1e-4, 0.3, 0.63, 0.64, 1.0, 2.5, -7.3]))],
        border={0.0: 1.0, NAN: NAN},
    ),
    *(
        _unary(name, ref, out='bool', order=0, maybe=BOOL, border=border)
        for name, ref, border in (
            ('isposinf', np.isposinf, {INF: True, -INF: False, NAN: False}),
            ('isneginf', np.isneginf, {INF: False, -INF: True, 0.0: False}),
        )
    ),
    *(
        _unary(name, ref, ALL, out='bool', order=0, maybe=())
        for name, ref in (('isreal', np.isreal), ('iscomplex', np.iscomplex))
    ),
    Case(
        'angle',
        np.angle,
        sig='z, deg=False',
        calls=[call(f(2, 3, avoid=(0,))), call(f(3, avoid=(0,)), deg=True), call(f(0))],
        dtypes=REAL + COMPLEX,
        maybe=BOOL,
        out=lambda d: {'complex64': 'float32', 'complex128': 'float64'}.get(d, math(d)),
        order=0,
        border={0.0: 0.0, -1.0: np.pi, NAN: NAN},
    ),
    *(
        Case(
            name,
            _round,
            sig='a, decimals=0',
            calls=[
                call(f(2, 3, lo=-99, hi=99)),
                call(f(67, lo=-99, hi=99), 2),
                call(f(2, 3, lo=-9999, hi=9999), -1),
                call(c([0.5, 1.5, -2.5, 3.0])),
                call(c([5, 15, 25, 14, 16, 95]), -1),
                call(f(), 1),
                call(f(0, 2), 1),
            ],
            dtypes=BOOL + REAL,
            maybe=COMPLEX,
            out=lambda d: 'float32' if d == 'bool' else d,
            order=0,
            tol=4,
            border={-0.0: -0.0, INF: INF, NAN: NAN, 2.5: 2.0},
        )
        for name in ('round', 'around')
    ),
    Case(
        'nan_to_num',
        _nan_to_num,
        sig='x, copy=True, nan=0.0, posinf=None, neginf=None',
        calls=[
            call(f(2, 3)),
            call(_special('float32'), nan=7.0, posinf=3.0, neginf=-1),
            call(_special('float32'), True, 1.0, 2.0, -2.0),
            call(f(0)),
            call(f()),
        ],
        dtypes=('float32',),
        unchecked=tuple(d for d in ALL if d != 'float32'),
        border={-0.0: -0.0},
    ),
    Case('nan_to_num', None, check=lambda xp, device: _check_infinities(xp, device)),
    Case(
        'nan_to_num',
        _nan_to_num,
        calls=[call(f(2, 3)), call(f(67)), call(f(3), nan=1, posinf=2, neginf=3)],
        dtypes=ALL,
    ),
    _pair(
        'divmod',
        lambda x1, x2: np.divmod(x1, x2),
        sig='x1, x2',
        inputs=[f(2, 3, lo=2.1, hi=2.9), f(2, 3, lo=1.5, hi=2.0)],
        calls=[call(f(3, lo=-2.9, hi=-2.1), f(1, lo=1.5, hi=2.0)), call(f(0), f(0))],
        maybe=COMPLEX,
        order=0,
        diff=(),
    ),
    Case(
        'isclose',
        np.isclose,
        calls=_CLOSE,
        sig='a, b, rtol=1e-05, atol=1e-08, equal_nan=False',
        dtypes=('float32', 'float64', 'int32'),
        unchecked=ALL,
        out='bool',
        order=0,
        errors=[(call(f(2), f(3)), 'DimensionError')],
    ),
]


def _check_infinities(xp, device):
    for dtype in ('float16', 'float32', 'float64', 'complex64'):
        n = np.array([INF, -INF, NAN, 2.5], dtype)
        x = xp.array(n, device=device)
        np.testing.assert_array_equal(xp.to_numpy(xp.nan_to_num(x)), np.nan_to_num(n))
        e = np.nan_to_num(n, posinf=9)
        np.testing.assert_array_equal(xp.to_numpy(xp.nan_to_num(x, posinf=9)), e)
        assert xp.nan_to_num(x, copy=False) is x
        np.testing.assert_array_equal(xp.to_numpy(x), np.nan_to_num(n))
    largest = xp.nan_to_num(xp.array([INF], 'bfloat16', device=device))
    assert largest.astype('float64').tolist() == [(2 - 2**-7) * 2.0**127]
    x = xp.array([INF, 1.0, NAN], device=device).require_grad()
    xp.nan_to_num(x).sum().backward()
    assert x.grad.tolist() == [0, 1, 0]
