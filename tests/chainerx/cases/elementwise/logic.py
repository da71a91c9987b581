"""Comparisons, logic, and the reductions all and any."""

import numpy as np
from cases._table import ALL, BOOL, COMPLEX, REAL, Case, call, f

INF, NAN = np.inf, np.nan


def _compare(name, ref, dtypes, maybe=(), bools='pair', **kw):
    return Case(
        name,
        ref,
        [f(3, 4, lo=0, hi=3), f(3, 4, lo=0, hi=3)],
        sig='x1, x2',
        dtypes=dtypes,
        maybe=maybe,
        out='bool',
        order=0,
        elastic=True,
        binary=True,
        bools=bools,
        **kw,
    )


CASES = [
    _compare('equal', np.equal, ALL, border={(NAN, NAN): False, (0.0, -0.0): True}),
    _compare('not_equal', np.not_equal, ALL, border={(NAN, NAN): True, (INF, INF): False}),
    _compare('greater', np.greater, BOOL + REAL, COMPLEX, border={(1.0, NAN): False}),
    _compare('greater_equal', np.greater_equal, BOOL + REAL, COMPLEX, border={(1.0, 1.0): True}),
    _compare('less', np.less, BOOL + REAL, COMPLEX, border={(-INF, INF): True}),
    _compare('less_equal', np.less_equal, BOOL + REAL, COMPLEX, border={(NAN, 1.0): False}),
    _compare(
        'logical_and',
        np.logical_and,
        ALL,
        bools='yes',
        border={(NAN, 1.0): True, (0.0, 1.0): False},
    ),
    _compare(
        'logical_or', np.logical_or, ALL, bools='yes', border={(0.0, -0.0): False, (0.0, NAN): True}
    ),
    _compare(
        'logical_xor',
        np.logical_xor,
        ALL,
        bools='yes',
        border={(2.0, 1.0): False, (0.0, 5.0): True},
    ),
    Case(
        'logical_not',
        np.logical_not,
        [f(3, 4, lo=0, hi=2)],
        sig='x',
        dtypes=ALL,
        out='bool',
        order=0,
        elastic=True,
        border=[(0.0, True), (-0.0, True), (NAN, False)],
    ),
    *(
        Case(
            name,
            ref,
            sig='a, axis=None, keepdims=False',
            dtypes=ALL,
            out='bool',
            order=0,
            calls=[
                call(f(2, 3, lo=0, hi=1)),
                call(f(2, 3, lo=0, hi=1), axis=0),
                call(f(2, 3, 2, lo=0, hi=1), axis=(0, -1), keepdims=True),
                call(f(4, 0), axis=1),
                call(f(0)),
                call(f(lo=0, hi=1)),
            ],
            errors=[
                (call(f(2, 3), axis=2), 'DimensionError'),
                (call(f(2, 3), axis=(0, 0)), 'DimensionError'),
            ],
            huge=False,
        )
        for name, ref in (('all', np.all), ('any', np.any))
    ),
]
