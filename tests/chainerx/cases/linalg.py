"""Products of matrices."""

import numpy as np

from cases._table import ALL, BOOL, COMPLEX, REAL, Case, call, f


def _linear(x, w, b=None, n_batch_axes=1):
    batch = x.shape[:n_batch_axes]
    y = x.reshape(int(np.prod(batch)), -1 if x.size else w.shape[1]) @ w.T
    if b is not None:
        y = y + b
    return y.reshape(*batch, w.shape[0])


_PRODUCTS = [
    call(f(2, 3), f(3, 4)),
    call(f(3), f(3)),
    call(f(2, 3), f(3)),
    call(f(3), f(3, 4)),
    call(f(0, 3), f(3, 2)),
    call(f(2, 0), f(0, 3)),
    call(f(0), f(0)),
    call(f(17, 19), f(19, 5)),
    call(f(1, 1), f(1, 1)),
]

CASES = [
    Case(
        'dot',
        np.dot,
        sig='a, b',
        calls=[
            *_PRODUCTS,
            call(f(2, 2, 3), f(3, 4)),
            call(f(2, 3), f(2, 3, 2)),
            call(f(), f(2, 3)),
            call(f(2), f()),
            call(f(), f()),
        ],
        dtypes=ALL,
        binary=True,
        bools='yes',
        tol=8,
        errors=[
            (call(f(2, 3), f(2, 3)), 'DimensionError', r'\(2, 3\)|3.*2|2.*3'),
            (call(f(2), f(3)), 'DimensionError'),
            (call(f(2, 3), f(4)), 'DimensionError'),
        ],
        big=call(f(130, 260), f(260, 140)),
    ),
    Case(
        'matmul',
        np.matmul,
        sig='x1, x2',
        calls=[
            *_PRODUCTS,
            call(f(2, 2, 3), f(2, 3, 2)),
            call(f(2, 2, 3), f(3, 4)),
            call(f(2, 3), f(2, 3, 2)),
            call(f(3), f(2, 3, 2)),
            call(f(2, 2, 3), f(3)),
            call(f(2, 1, 2, 3), f(3, 3, 1)),
            call(f(0, 2, 3), f(3, 2)),
            call(f(2, 2, 0), f(0, 3)),
        ],
        dtypes=ALL,
        binary=True,
        bools='yes',
        tol=8,
        errors=[
            (call(f(2, 3), f(2, 3)), 'DimensionError', r'3.*2|2.*3'),
            (call(f(2, 2, 3), f(3, 3, 4)), 'DimensionError'),
            (call(f(), f(2, 3)), 'DimensionError'),
            (call(f(2, 3), f()), 'DimensionError'),
        ],
        big=call(f(3, 130, 260), f(3, 260, 140)),
    ),
    Case(
        'linear',
        _linear,
        sig='x, w, b=None, n_batch_axes=1',
        calls=[
            call(f(2, 3), f(4, 3), f(4)),
            call(f(2, 3), f(4, 3)),
            call(f(2, 3), f(4, 3), None),
            call(f(2, 3, 2), f(4, 6), f(4)),
            call(f(2, 2, 3), f(4, 3), f(4), n_batch_axes=2),
            call(f(0, 3), f(4, 3), f(4)),
            call(f(1, 7), f(16, 7), f(16)),
        ],
        dtypes=REAL,
        maybe=COMPLEX + BOOL,
        tol=8,
        errors=[
            (call(f(2, 3), f(4, 2), f(4)), 'DimensionError'),
            (call(f(2, 3), f(4, 3), f(3)), 'DimensionError'),
            (call(f(2, 3), f(3), f(3)), 'DimensionError'),
            (call(f(2, 3), f(4, 3), f(4), n_batch_axes=3), 'DimensionError'),
            (call(f(2, 3), f(4, 3), f(4), n_batch_axes=-1), 'DimensionError'),
        ],
        big=call(f(100, 784), f(200, 784), f(200)),
    ),
]
