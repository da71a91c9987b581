"""Padding in all modes."""

import numpy as np
from cases._table import ALL, BOOL, NUMERIC, REAL, Case, call, f

_x = f(2, 3)
_wide = f(4, 3, lo=-5, hi=5)
_SIG = 'array, pad_width, mode, constant_values, stat_length=None, end_values, reflect_type'


def _pad(array, pad_width, mode='constant', *options, **kw):
    names = ('constant_values', 'stat_length', 'end_values', 'reflect_type')
    kw |= dict(zip(names, options, strict=False))
    return np.pad(array, pad_width if array.ndim else 0, mode, **kw)


def _row(calls, dtypes=ALL, errors=(), **kw):
    return Case('pad', _pad, sig=_SIG, calls=calls, dtypes=dtypes, errors=list(errors), **kw)


def _each(mode, *options, widths=(1, ((3, 2), (1, 5)), ((0, 9), (11, 0))), **kw):
    return [call(_wide, w, mode, *options, **kw) for w in widths]


CASES = [
    _row(
        [
            call(_x, 1),
            call(_x, (1, 2)),
            call(_x, ((1, 0), (0, 2))),
            call(_x, 1, 'constant', 1),
            call(_x, 2, constant_values=1),
            call(_x, (1, 2), constant_values=((1, 0), (0, 1))),
            call(_x, (1, 2), constant_values=((0,), (1,))),
            call(_x, ((1, 2),), mode='edge'),
            *_each('edge'),
            *_each('reflect'),
            *_each('symmetric'),
            *_each('wrap'),
            call(f(1), 3, 'reflect'),
            call(f(1), 3, 'symmetric'),
            call(f(3, 1, 2), ((1, 1), (2, 2), (0, 0)), 'wrap'),
            call(f(2, 0), ((1, 1), (0, 0)), 'edge'),
            call(_x, 0),
            call(f(0, 2), 1),
            call(f(), ()),
        ],
        errors=[
            (call(_x, -1), 'DimensionError', '-1'),
            (call(_x, ((1, 1),) * 3), 'DimensionError', '3'),
            (call(_x, 1, 'nonsense'), 'ValueError', 'nonsense'),
            (call(f(0), 1, 'edge'), 'DimensionError'),
            (call(_x, 2**62), 'DimensionError|MemoryError'),
            (call(_x, 1, 'edge', 0), 'ValueError', 'constant_values'),
            (call(_x, 1, end_values=1), 'ValueError', 'end_values'),
            (call(_x, 1, reflect_type='odd'), 'ValueError', 'reflect_type'),
            (call(_x, 1, 'reflect', reflect_type='x'), 'ValueError', 'x'),
            (call(_x, 1, constant_values=((1, 1),) * 3), 'DimensionError', '3'),
            (call(_x, 1, constant_values=(1, 2, 3)), 'DimensionError', '3'),
            (call(_x, 1, constant_values='x'), 'TypeError', 'constant_values'),
            (call(f(2, dtype='int8'), 1, constant_values=300), 'OverflowError', '300'),
            (call(_x, {2: 1}), 'DimensionError', '2'),
        ],
        big=call(f(300, 301), 3, 'reflect'),
    ),
    _row(
        [
            *_each('reflect', reflect_type='odd'),
            *_each('symmetric', reflect_type='odd'),
            call(f(2), (5, 4), 'reflect', reflect_type='odd'),
            call(f(1), 3, 'reflect', reflect_type='odd'),
            call(f(1), 3, 'symmetric', reflect_type='odd'),
        ],
        NUMERIC,
        tol=64,  # distant elements accumulate many additions
        gtol=4,
    ),
    _row(
        [
            *_each('linear_ramp'),
            *_each('linear_ramp', end_values=3),
            call(_x, (2, 3), 'linear_ramp', end_values=((1, 2), (3, 4))),
            call(f(1), 3, 'linear_ramp'),
        ],
        NUMERIC,
        tol=4,
        errors=[
            (call(_x, 1, 'linear_ramp', end_values='x'), 'TypeError', 'end_values'),
            (call(f(2, dtype='int8'), 1, 'linear_ramp', end_values=0.5), 'DtypeError', 'int8'),
        ],
    ),
    _row(
        [
            *(
                call(f(4, 5, distinct=True), 2, mode, **kw)
                for mode in ('maximum', 'mean', 'median', 'minimum')
                for kw in ({}, {'stat_length': 2}, {'stat_length': ((1, 3), (2, 9))})
            ),
            call(f(3, distinct=True), (2, 0), 'maximum', stat_length=None),
            call(f(4, distinct=True), 2, 'median', stat_length=(3, 2)),
        ],
        (*BOOL, *REAL),
        tol=4,
        errors=[
            (call(_x, 1, 'maximum', stat_length=0), 'ValueError', 'stat_length'),
            (call(_x, 1, 'mean', stat_length=-1), 'ValueError', '-1'),
            (call(_x, 1, 'mean', stat_length=1.5), 'TypeError', 'stat_length'),
        ],
    ),
]
