"""Weighted means and covariances."""

import numpy as np
from cases._promotion import math
from cases._table import BOOL, COMPLEX, FLOATS, INTS, REAL, Case, c, call, f
from cases.reduce.reduction_options import quiet

_WEIGHTS = c([[1.0, 2.0, 0.5], [0.25, 3.0, 1.0]], 'float32')
_COUNTS = c([1, 2, 3, 1], 'int64')
_SHARES = c([0.5, 1.0, 2.0, 0.25], 'float64')


def _average(a, axis=None, weights=None, returned=False, keepdims=False):
    return np.average(a, axis, weights, keepdims=keepdims)


def _cov(m, *args, dtype=None, **kw):
    return np.cov(m, *args, **kw)


def _corrcoef(x, *args, dtype=None, **kw):
    return np.corrcoef(x, *args, **kw)


CASES = [
    Case(
        'average',
        quiet(_average),
        sig='a, axis=None, weights=None, returned=False',
        calls=[
            call(f(2, 3)),
            call(f(2, 3), 1),
            call(f(2, 3), 0, keepdims=True),
            call(f(2, 3, 2), (0, 2)),
            call(f(2, 3), None, f(2, 3, lo=1, hi=2)),
            call(f(2, 3), 1, f(3, lo=1, hi=2)),
            call(f(2, 3, 2), (0, 2), f(2, 2, lo=1, hi=2)),
            # Weights follow the order of the given axes.
            call(f(3, 2, 3), (2, 0), f(3, 3, lo=1, hi=2)),
            call(f(2, 3, 4), (-1, 0), f(4, 2, lo=1, hi=2)),
        ],
        dtypes=REAL,
        maybe=BOOL + COMPLEX,
        out=lambda *d: math(d[0]),
        tol=4,
        errors=[
            (call(f(2, 3), 2), 'DimensionError'),
            (call(f(2, 3), 1, f(2)), 'DimensionError', r'\(2,\).*\(3,\)'),
            (call(f(2, 3), None, f(3)), 'DimensionError'),
            (call(f(2, 3, 4), (2, 0), f(2, 4)), 'DimensionError', r'\(2, 4\).*\(4, 2\)'),
        ],
        huge=False,
    ),
    Case('average', None, check=lambda xp, device: _check_returned(xp, device)),
    Case(
        'cov',
        quiet(_cov),
        sig='m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None',
        calls=[
            call(f(3, 4)),
            call(f(4)),
            call(f(4, 3), rowvar=False),
            call(f(2, 4), f(4)),
            call(f(2, 4), f(3, 4), True, True),
            call(f(2, 4), ddof=0),
            call(f(2, 4), fweights=_COUNTS),
            call(f(2, 4), aweights=_SHARES),
            call(f(2, 4), fweights=_COUNTS, aweights=_SHARES, ddof=1),
            call(f(2, 4), aweights=_SHARES, bias=True),
        ],
        dtypes=FLOATS,
        maybe=BOOL + INTS + COMPLEX,
        out=lambda *d: math(d[0]),
        tol=8,
        errors=[
            (call(f(2, 3, 4)), 'DimensionError'),
            (call(f(2, 4), f(2, 3)), 'DimensionError', '3.*4'),
            (call(f(2, 4), fweights=c([1, 2], 'int64')), 'DimensionError', 'fweights'),
            (call(f(2, 4), fweights=_SHARES), 'DtypeError', 'fweights'),
            (call(f(2, 4), dtype='int32'), 'DtypeError', 'dtype'),
            (call(f(2, 4, dtype='complex64'), dtype='float64'), 'DtypeError', 'float64.*complex64'),
        ],
        huge=False,
    ),
    Case(
        'corrcoef',
        quiet(_corrcoef),
        sig='x, y=None, rowvar=True',
        calls=[
            call(f(3, 5)),
            call(f(5, 2), rowvar=False),
            call(f(2, 5), f(5)),
        ],
        dtypes=FLOATS,
        maybe=BOOL + INTS + COMPLEX,
        layouts=False,  # a constant variable has no correlations, only noise
        out=lambda *d: math(d[0]),
        tol=8,
        gtol=4,
        errors=[
            (call(f(2, 3, 4)), 'DimensionError'),
            (call(f(2, 4), dtype='bool'), 'DtypeError', 'dtype'),
            (call(f(2, 4, dtype='complex128'), dtype='float32'), 'DtypeError', 'float32.*complex'),
        ],
        huge=False,
    ),
]


def _check_returned(xp, device):
    x = xp.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device=device)
    w = xp.array([1.0, 2.0, 1.0], device=device)
    y, total = xp.average(x, 1, w, True)
    assert y.tolist() == [2, 5]
    assert total.tolist() == [4, 4]
    y, total = xp.average(x, 0, returned=True, keepdims=True)
    assert y.tolist() == [[2.5, 3.5, 4.5]]
    assert total.tolist() == [[2, 2, 2]]
