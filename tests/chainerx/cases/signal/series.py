"""Differences, integrals and polynomials; convolution of vectors."""

import numpy as np
from cases._table import ALL, BOOL, COMPLEX, NUMERIC, REAL, Case, c, call, f, own

_x, _x3 = f(2, 3), f(2, 3, 4)
_PLACES = (0, 1, 2, 5)
_ROUND = tuple(range(-12, 13))


def _diff(a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    return np.diff(a, n, axis, prepend, append)


def _gradient(*args, **kw):
    y = np.gradient(*args, **kw)
    return list(y) if isinstance(y, (tuple, list)) else y


def _new(name, ref, calls, errors=()):
    return Case(
        name,
        ref,
        calls=calls,
        errors=[
            (call(1, 2, -1), 'ChainerxError', '-1'),
            (call(1, 2, 1.5), 'TypeError', 'num'),
            (call('x', 2), 'TypeError', 'start'),
            *errors,
        ],
        out='float32',
        order=0,
        tol=4,
        huge=False,
        dtypes=ALL,
    )


# Ends and exponents of these dtypes are rounded before a power is computed.
_NARROW = tuple(d for d in ALL if d not in ('float32', 'float64', *COMPLEX))


def _ends(*shape):
    return f(*shape, lo=0.3, hi=4)


def _geomspace(start, stop, num=50, endpoint=True, dtype=None, *, axis=0):
    return np.geomspace(start, stop, num, endpoint, dtype, axis)


CASES = [
    Case(
        'diff',
        _diff,
        sig='a, n=1, axis=-1, prepend=None, append=None',
        calls=[
            call(_x),
            call(_x3, 2),
            call(_x3, 1, 0),
            call(_x, axis=0),
            call(_x, 0),
            call(_x, 5),
            call(f(0)),
            call(_x, 1, -1, f(2, 1)),
            call(_x, 1, 0, f(), f(2, 3)),
            call(_x, prepend=1, append=f(2, 2)),
        ],
        dtypes=ALL,
        errors=[
            (call(_x, -1), 'ValueError', '-1'),
            (call(_x, 1, 2), 'DimensionError', '2'),
            (call(f()), 'DimensionError'),
            (call(_x, 1, -1, f(3)), 'DimensionError'),
            (call(_x, 1.5), 'TypeError'),
            (call(_x, 1, -1, 'x'), 'TypeError', 'prepend'),
            (call(own('int8', 2), append=300), 'OverflowError', 'diff: 300'),
        ],
    ),
    Case(
        'diff',
        _diff,
        calls=[call(own('int32', 3), prepend=0.5), call(own('int64', 2, 3), 1, 0, append=1.5)],
        dtypes=('float32',),
        unchecked=tuple(d for d in ALL if d != 'float32'),
        out='float32',
        order=0,
        diff=(),
    ),
    Case(
        'ediff1d',
        np.ediff1d,
        sig='ary, to_end=None, to_begin=None',
        calls=[
            call(_x),
            call(f(4), f(2)),
            call(f(4), 1, f()),
            call(f(4), to_begin=f(2, 2)),
            call(f(1)),
            call(f(0)),
        ],
        dtypes=NUMERIC,
        errors=[
            (call(f(3, dtype='int32'), f(1)), 'DtypeError', 'to_end'),
            (call(f(3), None, 'x'), 'TypeError', 'to_begin'),
        ],
    ),
    Case(
        'gradient',
        _gradient,
        calls=[
            call(f(5)),
            call(_x3),
            call(_x3, 2.0, axis=-1),
            call(_x3, 2.0, 0.5, axis=(0, 2)),
            call(f(4, 3), edge_order=2),
            call(f(2)),
            call(f(6), 0.5),
            call(f(4, 3), [0.0, 1.0, 1.5, 4.0], 2, axis=(0, 1)),
            call(f(5), [0.0, 1.0, 1.5, 4.0, 6.0], edge_order=2),
            call(f(2, 4), [0.0, 1.0, 1.5, 4.0], axis=1),
        ],
        dtypes=('float64', 'complex128'),
        unchecked=tuple(d for d in ALL if d not in ('float64', 'complex128')),
        multi='any',
        tol=4,
        errors=[
            (call(f(1)), 'ValueError', '1'),
            (call(f(2), edge_order=2), 'ValueError', '2'),
            (call(f(4), edge_order=3), 'ValueError', 'edge_order'),
            (call(f(3, 3), 1, 2, 3), 'DimensionError', '3'),
            (call(f(3), [0.0, 1.0]), 'DimensionError', '2'),
            (call(f(3), axis=1), 'DimensionError', '1'),
            (call(f(3), 'x'), 'TypeError', 'varargs'),
        ],
    ),
    Case(
        'trapezoid',
        getattr(np, 'trapezoid', None) or np.trapz,
        sig='y, x=None, dx, axis',
        calls=[
            call(f(5)),
            call(_x),
            call(_x3, None, 2.0, 1),
            call(_x, f(3)),
            call(_x, f(2, 3)),
            call(_x3, f(2), axis=0),
            call(_x, dx=0.5),
            call(f(1)),
            call(f(3), f(2, 3)),
            call(f(1), f(2, 2)),
            call(_x, f(4, 2, 3), axis=-2),
            call(_x, None, f(4, 2, 2)),
        ],
        dtypes=NUMERIC,
        out='float',
        tol=4,
        errors=[
            (call(_x, f(4)), 'DimensionError'),
            (call(_x, None, 1.0, 2), 'DimensionError', '2'),
            (call(f()), 'DimensionError'),
            (call(_x, None, 'x'), 'TypeError', 'dx'),
        ],
    ),
    Case(
        'unwrap',
        lambda p, discont=None, axis=-1, period=6.283185307179586: np.unwrap(
            p.astype('f8'), discont, axis, period=period
        ),
        sig='p, discont=None, axis=-1, period',
        calls=[
            call(f(7, lo=-9, hi=9)),
            call(f(3, 6, lo=-9, hi=9)),
            call(f(2, 5, lo=-9, hi=9), None, 0),
            call(f(2, 5, lo=-9, hi=9), 4.0),
            call(f(6, lo=-9, hi=9), period=5.0),
            call(f(1)),
            call(f(0)),
        ],
        dtypes=REAL,
        out='float',
        tol=16,
        errors=[
            (call(f(3), period=0.0), 'ValueError', '0'),
            (call(f(3), None, 1), 'DimensionError', '1'),
            (call(f(3), 'x'), 'TypeError', 'discont'),
        ],
    ),
    *(
        Case(
            name,
            lambda x, axis=None, dtype=None, include_initial=False, scan=scan, start=start: (
                _cumulative(scan, start, x, axis, dtype, include_initial)
            ),
            calls=[
                call(f(4)),
                call(_x, axis=0),
                call(_x3, axis=-2),
                call(_x, axis=1, include_initial=True),
                call(f()),
                call(f(0), include_initial=True),
                call(own('int32', 4), dtype='float64'),
            ],
            dtypes=ALL,
            out='total',
            errors=[
                (call(_x), 'ValueError', 'axis'),
                (call(_x, axis=2), 'DimensionError', '2'),
                (call(_x, 0), 'TypeError'),
            ],
            tol=4,
        )
        for name, scan, start in (
            ('cumulative_sum', np.cumsum, 0),
            ('cumulative_prod', np.cumprod, 1),
        )
    ),
    *(
        Case(
            name,
            ref,
            sig='a, v, mode',
            calls=[
                call(f(5), f(3)),
                call(f(3), f(5)),
                *(call(f(6), f(n), mode) for n in (1, 2, 3, 4) for mode in ('same', 'valid')),
                *(call(f(n), f(6), mode) for n in (2, 3) for mode in ('same', 'valid')),
                call(f(4), f(3), mode='full'),
                call(f(3), f(3), 'full'),
            ],
            dtypes=NUMERIC,
            tol=8,
            gtol=4,
            errors=[
                (call(f(0), f(3)), 'ValueError', 'empty'),
                (call(f(2, 2), f(3)), 'DimensionError', '2'),
                (call(f(2), f()), 'DimensionError'),
                (call(f(2), f(2), 'x'), 'ValueError', 'x'),
            ],
        )
        for name, ref in (('convolve', np.convolve), ('correlate', np.correlate))
    ),
    Case(
        'interp',
        lambda x, xp, fp, left=None, right=None, period=None: np.interp(
            x, xp, fp, left, right, period
        ),
        sig='x, xp, fp, left=None, right=None, period=None',
        calls=[
            call(f(7, lo=-1, hi=6, avoid=_PLACES), c(_PLACES), f(4)),
            call(f(2, 3, lo=-1, hi=6, avoid=_PLACES), c(_PLACES), f(4), -1.0),
            call(f(2, 3, lo=-1, hi=6, avoid=_PLACES), c(_PLACES), f(4), right=2.0),
            call(f(lo=1.2, hi=1.8), c(_PLACES), f(4)),
            call(f(7, lo=-9, hi=9, avoid=_ROUND), c([3, 1, 2]), f(3), None, None, 4.0),
            call(f(0), c(_PLACES), f(4)),
        ],
        dtypes=(*BOOL, *REAL),
        out='float',
        layouts=False,  # a broadcast row is not ascending
        tol=8,
        gtol=8,
        errors=[
            (call(f(2), f(0), f(0)), 'ValueError', 'xp'),
            (call(f(2), f(3), f(2)), 'DimensionError', '3'),
            (call(f(2), f(2, 2), f(2, 2)), 'DimensionError', '2, 2'),
            (call(f(2), f(2), f(2), period=0.0), 'ValueError', 'period'),
            (call(f(2), f(2), f(2), 'x'), 'TypeError', 'left'),
        ],
    ),
    Case(
        'polyval',
        np.polyval,
        sig='p, x',
        calls=[
            call(f(4), _x),
            call(f(1), _x),
            call(f(3), f()),
            call(f(3), 2),
            call(f(2), f(0)),
        ],
        dtypes=NUMERIC,
        tol=8,
        gtol=4,
        errors=[
            (call(_x, _x), 'DimensionError', '2, 3'),
            (call(f(2), 'x'), 'TypeError', 'x'),
        ],
    ),
    Case(
        'vander',
        lambda x, N=None, increasing=False: np.vander(x, N, increasing),
        sig='x, N=None, increasing=False',
        calls=[
            call(f(3)),
            call(f(3), 2),
            call(f(3), 4, True),
            call(f(3), 0),
            call(f(3), N=1),
            call(f(0)),
            call(f(2), 3),
        ],
        dtypes=ALL,
        out='total',
        tol=8,
        gtol=4,
        errors=[
            (call(_x), 'DimensionError', '2, 3'),
            (call(f(2), -1), 'DimensionError', '-1'),
            (call(f(2), 1.5), 'TypeError'),
        ],
    ),
    _new(
        'logspace',
        lambda start, stop, num=50, endpoint=True, base=10.0, dtype=None, device=None: np.logspace(
            start, stop, num, endpoint, base, np.float32 if dtype is None else dtype
        ),
        [
            call(0, 3, 4),
            call(-1.5, 2),
            call(0, 3, 4, False),
            call(0, 8, 9, base=2.0),
            call(1, 2, 0),
        ],
    ),
    _new(
        'geomspace',
        lambda start, stop, num=50, endpoint=True, dtype=None, device=None: np.geomspace(
            start, stop, num, endpoint, np.float32 if dtype is None else dtype
        ),
        [call(1, 1000, 4), call(-8, -1), call(3, 7, 3, False), call(2, 5, 1), call(1, 2, 0)],
        [
            (call(0, 1), 'ValueError', '0'),
            (call(-1, 1), 'ValueError', '-1'),
            (call(1, 2, axis=1), 'DimensionError', '1'),
        ],
    ),
    Case(
        'logspace',
        lambda start, stop, num=50, endpoint=True, base=10.0, dtype=None, *, axis=0: np.logspace(
            start, stop, num, endpoint, base, dtype, axis
        ),
        calls=[
            call(f(2, 3), f(3), 5),
            call(f(3), 2, 4, False),
            call(1, f(2, 3), num=4, axis=-1),
            call(f(2), f(2), 1),
            call(f(0), f(0), 3),
            call(f(), f(), 3),
            call(1, 2, 3, base=f(2, lo=1, hi=3)),
            call(f(2, 1), f(2, 1), 3, True, f(4, lo=1, hi=3), axis=1),
        ],
        dtypes=('float32', 'float64', *COMPLEX),
        unchecked=_NARROW,
        tol=16,
        gtol=16,
        errors=[
            (call(f(2), f(3)), 'DimensionError', '2'),
            (call(f(2), 1, axis=2), 'DimensionError', '2'),
            (call(f(2), 1, base=f(3)), 'DimensionError', '3'),
            (call(c([1j, 2], 'complex64'), 1, dtype='float32'), 'DtypeError', 'complex'),
            (call(1, 2, 3, base=c([1j], 'complex64'), dtype='int32'), 'DtypeError', 'complex'),
            (call(f(2), 'x'), 'TypeError', 'stop'),
        ],
        huge=False,
    ),
    Case(
        'geomspace',
        _geomspace,
        calls=[
            call(_ends(2, 3), _ends(3), 5),
            call(_ends(3), 2, 4, False),
            call(1, _ends(2, 3), num=4, axis=-1),
            call(c([-1.0, -2.0]), c([-3.0, -0.5]), 4),
            call(_ends(2), _ends(2), 1),
            call(_ends(0), _ends(0), 3),
            call(_ends(), _ends(), 3),
        ],
        dtypes=('float32', 'float64', *COMPLEX),
        unchecked=_NARROW,
        tol=16,
        gtol=16,
        errors=[
            (call(f(2), f(3)), 'DimensionError', '2'),
            (call(f(2), 1, axis=2), 'DimensionError', '2'),
            (call(c([1j, 2], 'complex64'), 1, dtype='float32'), 'DtypeError', 'complex'),
        ],
        huge=False,
    ),
]


def _cumulative(scan, start, x, axis, dtype, include_initial):
    """NumPy has this function since version 2.1."""
    y = scan(np.atleast_1d(x), axis if axis is not None else 0, dtype)
    if not include_initial:
        return y
    axis = axis or 0
    shape = [*y.shape]
    shape[axis] = 1
    return np.concatenate([np.full(shape, start, y.dtype), y], axis)
