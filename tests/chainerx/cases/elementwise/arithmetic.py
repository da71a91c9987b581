"""Arithmetic and bit operations on one and two arrays."""

import numpy as np
from cases._table import ALL, BOOL, COMPLEX, INTS, NUMERIC, REAL, Case, call, f

INF, NAN = np.inf, np.nan


def zero_where_int(reference):
    """Integer division by zero gives 0, where NumPy warns."""

    def ref(x1, x2):
        if np.result_type(x1, x2).kind in 'iu':
            return np.where(x2 == 0, 0, reference(x1, np.where(x2 == 0, 1, x2)))
        with np.errstate(all='ignore'):
            return reference(x1, x2)

    return ref


def _power(x1, x2):
    if np.result_type(x1, x2).kind not in 'iu':
        with np.errstate(all='ignore'):
            return np.power(x1, x2)
    exact = np.power(np.asarray(x1, object), np.abs(x2))
    negative = np.where(np.abs(x1) == 1, np.sign(x1) ** np.abs(x2), 0)
    return np.where(x2 < 0, negative, exact).astype(np.int64)


def _shift(reference):
    # Shifts by the width or more are undefined in C; the rows stay below it.
    return lambda x1, x2: reference(x1, x2)


def _unary(name, ref, dtypes=NUMERIC, **kw):
    x = kw.pop('x', f(2, 3))
    return Case(name, ref, [x], sig='x', dtypes=dtypes, elastic=True, **kw)


def _binary(name, ref, dtypes=NUMERIC, **kw):
    xs = kw.pop('xs', [f(2, 3), f(2, 3)])
    kw.setdefault('scalar', True)
    return Case(name, ref, xs, sig='x1, x2', dtypes=dtypes, elastic=True, binary=True, **kw)


_nonzero = f(2, 3, lo=-3, hi=3, avoid=(0,), gap=0.5)
# Quotients far from integers, where floor and remainder jump.
_dividend = f(2, 3, lo=2.1, hi=2.9)
_divisor = f(2, 3, lo=1.5, hi=2.0)
# Arguments whose floor and truncation differ.
_SIGNS = [
    call(f(2, 3, lo=-2.9, hi=-2.1), _divisor),
    call(_dividend, f(2, 3, lo=-2.0, hi=-1.5)),
    call(f(2, 3, lo=-2.9, hi=-2.1), f(2, 3, lo=-2.0, hi=-1.5)),
]
# The other argument is the larger one.
_SWAPPED = [call(f(2, 3, lo=-4, hi=-0.5), f(2, 3, lo=0, hi=3))]
_int_shift = f(2, 3, lo=0, hi=6)
_base = f(2, 3, lo=0.3, hi=3)

CASES = [
    _unary('negative', np.negative, border={0.0: -0.0, INF: -INF, NAN: NAN}),
    _unary('positive', np.positive, border={-0.0: -0.0, NAN: NAN}),
    *(
        _unary(name, lambda x: ~x, BOOL + INTS, order=0, x=f(2, 3, lo=0, hi=99))
        for name in ('invert', 'bitwise_not')
    ),
    _unary('square', np.square, border={-INF: INF, NAN: NAN}, big=call(f(3, 70001))),
    *(
        _unary(
            name,
            np.abs,
            NUMERIC,
            out='abs',
            x=f(2, 3, avoid=(0,)),
            border={-0.0: 0.0, -INF: INF, NAN: NAN},
        )
        for name in ('abs', 'absolute')
    ),
    _unary(
        'fabs',
        np.abs,
        BOOL + REAL,
        maybe=COMPLEX,
        out='real',
        x=f(2, 3, avoid=(0,)),
        border={-0.0: 0.0, -INF: INF},
    ),
    _unary('sign', np.sign, NUMERIC, order=0, border={0.0: 0.0, INF: 1, -INF: -1, NAN: NAN}),
    _unary(
        'reciprocal',
        lambda x: 1 / x,
        NUMERIC,
        out='float',
        x=_nonzero,
        border=[(0.0, INF), (-0.0, -INF), (INF, 0.0), (NAN, NAN)],
    ),
    _binary('add', np.add, border={(INF, -INF): NAN, (1.0, NAN): NAN, (-0.0, -0.0): -0.0}),
    _binary('subtract', np.subtract, border={(INF, INF): NAN, (0.0, 0.0): 0.0}),
    _binary('multiply', np.multiply, ALL, bools='yes', border={(INF, 0.0): NAN, (-1.0, 0.0): -0.0}),
    *(
        _binary(
            name,
            np.divide,
            out='divide',
            xs=[f(2, 3), _nonzero],
            border={(1.0, 0.0): INF, (-1.0, 0.0): -INF, (0.0, 0.0): NAN, (INF, INF): NAN},
        )
        for name in ('divide', 'true_divide')
    ),
    _binary(
        'floor_divide',
        zero_where_int(np.floor_divide),
        REAL,
        order=0,
        xs=[f(2, 3, lo=-9, hi=9), f(2, 3, lo=-3, hi=3, avoid=(0,), gap=0.5)],
        border={(7.0, 2.0): 3.0, (-7.0, 2.0): -4.0, (7.0, -2.0): -4.0, (6.0, 3.0): 2.0},
    ),
    *(
        _binary(
            name,
            zero_where_int(np.remainder),
            REAL,
            xs=[_dividend, _divisor],
            calls=_SIGNS,
            border={(7.0, 3.0): 1.0, (-7.0, 3.0): 2.0, (7.0, -3.0): -2.0, (5.0, 0.0): NAN},
        )
        for name in ('remainder', 'mod')
    ),
    _binary(
        'fmod',
        zero_where_int(np.fmod),
        REAL,
        scalar=False,
        xs=[_dividend, _divisor],
        calls=_SIGNS,
        border={(7.0, 3.0): 1.0, (-7.0, 3.0): -1.0, (7.0, -3.0): 1.0, (5.0, 0.0): NAN},
    ),
    _binary(
        'power',
        _power,
        REAL,
        maybe=COMPLEX,
        xs=[_base, f(2, 3, lo=-2, hi=3)],
        tol=4,
        border={
            (0.0, 0.0): 1.0,
            (2.0, -1.0): 0.5,
            (-2.0, 3.0): -8.0,
            (NAN, 0.0): 1.0,
            (-0.0, 3.0): -0.0,
            (-1e-200, 3.0): -0.0,
            (-INF, -3.0): -0.0,
        },
    ),
    _binary(
        'maximum',
        np.maximum,
        BOOL + REAL,
        bools='pair',
        xs=[f(2, 3, lo=0, hi=3), f(2, 3, lo=-4, hi=-0.5)],
        calls=_SWAPPED,
        border={(1.0, NAN): NAN, (NAN, 1.0): NAN, (-INF, 1.0): 1.0, (3.0, 2.0): 3.0},
    ),
    _binary(
        'minimum',
        np.minimum,
        BOOL + REAL,
        bools='pair',
        xs=[f(2, 3, lo=0, hi=3), f(2, 3, lo=-4, hi=-0.5)],
        calls=_SWAPPED,
        border={(1.0, NAN): NAN, (NAN, 1.0): NAN, (-INF, 1.0): -INF, (3.0, 2.0): 2.0},
    ),
    *(
        _binary(
            name, ref, BOOL + INTS, bools='yes', order=0, out='bits', xs=[f(2, 3, lo=0, hi=99)] * 2
        )
        for name, ref in (
            ('bitwise_and', np.bitwise_and),
            ('bitwise_or', np.bitwise_or),
            ('bitwise_xor', np.bitwise_xor),
        )
    ),
    *(
        _binary(
            name,
            _shift(ref),
            INTS,
            order=0,
            out='first',
            scalar=False,
            xs=[f(2, 3, lo=0, hi=60), _int_shift],
        )
        for name, ref in (('left_shift', np.left_shift), ('right_shift', np.right_shift))
    ),
]
