"""Arrays of indices."""

import numpy as np
from cases._table import ALL, INTS, Case, b, c, call, f, i


def _row(name, ref, sig, calls, errors=(), **kw):
    kw = {'dtypes': ALL, 'out': 'int64', 'order': 0, 'huge': False} | kw
    return Case(name, ref, sig=sig, calls=calls, errors=list(errors), **kw)


def _new(name, ref, sig, calls, errors=(), **kw):
    """Checks routines that make arrays from numbers."""
    return _row(name, ref, sig, calls, errors, layouts=False, multi=tuple, **kw)


def _ix(*args):
    return np.ix_(*args)


_SPARSE = f(3, 4, lo=-1, hi=1)
_TRIANGLE = [call(3), call(3, 1), call(3, k=-1), call(3, 0, 4), call(4, -9), call(2, 9), call(0)]

CASES = [
    _row(
        'argwhere',
        np.argwhere,
        'a',
        [call(_SPARSE), call(f(7, lo=0, hi=1)), call(f()), call(c(0)), call(c(1)), call(f(2, 0))],
    ),
    _row('flatnonzero', np.flatnonzero, 'a', [call(_SPARSE), call(f()), call(f(0))]),
    _row(
        'indices',
        lambda dimensions, dtype=None, sparse=False, device=None: np.indices(
            dimensions, np.int64 if dtype is None else dtype, sparse
        ),
        'dimensions, dtype=None, sparse=False, device=None',
        [
            call((2, 3)),
            call((4,)),
            call((2, 0, 3)),
            call((2, 3), dtype='float32'),
            call((2, 3), sparse=True),
        ],
        [
            (call((2, -1)), 'DimensionError', '-1'),
            (call((1,) * 11), 'DimensionError'),
            (call((2**62, 2**62)), 'DimensionError|MemoryError'),
            (call(1.5), 'TypeError'),
        ],
        layouts=False,
    ),
    _row(
        'ix_',
        _ix,
        '',
        [
            call(i(3), i(2)),
            call(i(2)),
            call(b(4), i(2)),
            call(i(0), i(2)),
        ],
        [
            (call(i(2, 2)), 'DimensionError', 'ix_'),
            (call('x'), 'TypeError'),
        ],
        multi=tuple,
        layouts=False,
    ),
    _new(
        'diag_indices',
        lambda n, ndim=2, device=None: np.diag_indices(n, ndim),
        'n, ndim=2, device=None',
        [call(3), call(0), call(2, 3), call(4, ndim=1)],
        [
            (call(-1), 'DimensionError', '-1'),
            (call(2, -2), 'DimensionError'),
            (call(2, 11), 'DimensionError', '11'),
            (call(1.5), 'TypeError'),
        ],
    ),
    _row(
        'diag_indices_from',
        np.diag_indices_from,
        'arr',
        [call(f(3, 3)), call(f(2, 2, 2))],
        [(call(f(3)), 'DimensionError', '3'), (call(f(2, 3)), 'DimensionError', '2, 3')],
        multi=tuple,
    ),
    *(
        _new(
            name,
            lambda n, k=0, m=None, device=None, ref=ref: ref(n, k, m),
            'n, k=0, m=None, device=None',
            _TRIANGLE,
            [(call(-1), 'DimensionError', '-1'), (call(1.5), 'TypeError', 'n')],
        )
        for name, ref in (('tril_indices', np.tril_indices), ('triu_indices', np.triu_indices))
    ),
    *(
        _row(
            name,
            ref,
            'arr, k=0',
            [call(f(2, 3)), call(f(3, 2), 1), call(f(3, 3), k=-1)],
            [(call(f(3)), 'DimensionError', '3')],
            multi=tuple,
        )
        for name, ref in (
            ('tril_indices_from', np.tril_indices_from),
            ('triu_indices_from', np.triu_indices_from),
        )
    ),
    _row(
        'ravel_multi_index',
        np.ravel_multi_index,
        'multi_index, dims, mode, order',
        [
            call((f(5, lo=0, hi=2), f(5, lo=0, hi=2)), (3, 4)),
            call((f(5, lo=0, hi=2), f(5, lo=0, hi=2)), (3, 4), order='F'),
            call((f(2, 3, lo=0, hi=2), f(3, lo=0, hi=2), f(lo=0, hi=2)), (3, 3, 3)),
            call((f(5, lo=0, hi=9), f(5, lo=0, hi=9)), (3, 4), 'wrap'),
            call((f(5, lo=0, hi=9), f(5, lo=0, hi=9)), (3, 4), mode=('clip', 'wrap')),
            call((f(0), f(0)), (3, 4)),
            call((f(4, lo=0, hi=2),), (3,)),
        ],
        [
            (call((c([3], 'int64'), c([0], 'int64')), (3, 4)), 'ValueError', '3'),
            (call((c([0], 'int64'), c([-1], 'int64')), (3, 4)), 'ValueError', '-1'),
            (call((i(2), i(3)), (3, 4)), 'DimensionError'),
            (call((i(2),), (3, 4)), 'DimensionError'),
            (call((i(2), i(2)), (3, 4), 'x'), 'ValueError', 'x'),
            (call((i(2), i(2)), (3, 4), ('clip',)), 'DimensionError', 'mode'),
            (call((i(2), i(2)), (3, 4), 'raise', 'K'), 'ValueError', 'K'),
            (call((i(2), i(2)), (0, 4), 'wrap'), 'ValueError', '0'),
            (call((i(2), i(2)), (2**62, 4)), 'DimensionError'),
            (call(i(2, 2), (3, 4)), 'TypeError', 'multi_index'),
        ],
        dtypes=INTS,
    ),
    _row(
        'unravel_index',
        np.unravel_index,
        'indices, shape, order',
        [
            call(f(5, lo=0, hi=11), (3, 4)),
            call(f(5, lo=0, hi=11), (3, 4), 'F'),
            call(f(2, 3, lo=0, hi=11), (2, 3, 2)),
            call(f(lo=0, hi=3), 4),
            call(f(0), (3, 4)),
        ],
        [
            (call(c([12], 'int64'), (3, 4)), 'ValueError', '12'),
            (call(c([-1], 'int64'), (3, 4)), 'ValueError', '-1'),
            (call(i(2), (3, -4)), 'DimensionError', '-4'),
            (call(i(2), (3, 4), 'K'), 'ValueError', 'K'),
        ],
        multi=tuple,
        dtypes=INTS,
    ),
]
