"""Counts of integers, and histograms."""

import numpy as np
from cases._promotion import ALL, BOOL, INTS, REAL
from cases._table import Case, c, call, f, i, own

RULES = ('auto', 'fd', 'doane', 'scott', 'stone', 'rice', 'sturges', 'sqrt')


def _parts(n, name):
    """Selects one of the results, since a row has one dtype."""

    def ref(*args, **kw):
        return getattr(np, name)(*args, **kw)[n]

    def fn(*args, **kw):
        import chainerx

        return getattr(chainerx, name)(*args, **kw)[n]

    return {'ref': ref, 'fn': fn}


def _edges_dtype(*dtypes):
    return dtypes[0] if dtypes[0] in ('float16', 'bfloat16', 'float32', 'float64') else 'float64'


def _weighted(x, weights, minlength=0):
    return np.bincount(x, weights, minlength)


_DATA = f(40, lo=-3, hi=3, distinct=True)
_HISTOGRAMS = [
    call(_DATA, 5),
    call(_DATA, 7, (-1.5, 2.5)),
    call(f(4, 6, lo=0, hi=9), bins=4, range=(0, 10)),
    call(_DATA, [-2, -0.5, 0.5, 2]),
    call(c([0, 1, 1, 2, 3, 3]), np.array([0, 1, 1, 3])),
    call(c([1, 1, 1])),
    call(f(0)),
    call(f(0), 3, (0, 1)),
    call(f()),
    call(_DATA, c([-2, 0, 1], 'float64')),
    call(_DATA, [0]),
]
_BIN_ERRORS = [
    (call(f(3), 0), 'ValueError', '0'),
    (call(f(3), -2), 'ValueError', '-2'),
    (call(f(3), 2.5), 'TypeError'),
    (call(f(3), 'best'), 'ValueError', 'best'),
    (call(f(3), 3, (2, 1)), 'ValueError', '2'),
    (call(f(3), 3, (0, np.inf)), 'ValueError', 'inf'),
    (call(f(3), 3, (0, np.nan)), 'ValueError', 'nan'),
    (call(f(3), 3, (0, 1, 2)), 'ValueError', '3'),
    (call(f(3), 3, 1), 'TypeError'),
    (call(c([np.nan, 1], 'float32')), 'ValueError', 'nan'),
    (call(f(3), 'auto', weights=f(3)), 'TypeError', 'auto'),
]
_EDGE_ERRORS = [
    (call(f(3), [1, 0]), 'ValueError'),
    (call(f(3), [[1, 2]]), 'DimensionError', r'\(1, 2\)'),
    (call(f(3), np.zeros(0)), 'ValueError'),
    (call(f(3), 3, weights=f(2)), 'DimensionError', r'\(2,\)'),
    (call(f(3), 3, weights='x'), 'TypeError'),
]
_X, _Y = f(30, lo=-2, hi=2, distinct=True), f(30, lo=0, hi=5, distinct=True)
_POINTS = [
    call(_X, _Y, 4, ((-3, 3), (0, 6))),
    call(_X, _Y, (3, 5), ((-2, 1), (0, 6))),
    call(_X, _Y, ([-2, 0, 2], [0, 3, 5])),
    call(_X, _Y, [0, 1, 2, 3]),
    call(_X, _Y, ([-1, 1], 3), (None, (1, 4))),
]

CASES = [
    Case(
        'digitize',
        np.digitize,
        calls=[
            call(f(2, 5, lo=0, hi=6), c([0, 1, 3, 3, 5])),
            call(c([0, 1, 2, 3, 5, 6]), c([0, 1, 3, 3, 5]), True),
            call(c([0, 1, 2, 3, 5, 6]), c([5, 3, 1])),
            call(c([0, 1, 2, 3, 5, 6]), c([5, 3, 1]), right=True),
            call(f(3), f(1)),
            call(f(3), f(0)),
            call(f(0), c([0, 1])),
            call(f(3), [0.5, 1.5]),
            call(f(3), np.array([2, 1])),
        ],
        sig='x, bins, right=False',
        dtypes=BOOL + REAL,
        out='int64',
        order=0,
        errors=[
            (call(f(3), c([0, 2, 1])), 'ValueError'),
            (call(f(3), f(2, 2)), 'DimensionError', r'\(2, 2\)'),
            (call(f(3), 1), 'TypeError'),
            (call(own('complex64', 3), f(2)), 'DtypeError'),
            (call(f(3), own('complex64', 2)), 'DtypeError'),
        ],
        huge=False,
        layouts=False,
    ),
    Case(
        'bincount',
        np.bincount,
        calls=[
            call(c([0, 3, 1, 3, 3])),
            call(f(50, lo=0, hi=9)),
            call(c([1, 1]), None, 5),
            call(c([1, 0]), minlength=1),
            call(f(0)),
            call(f(0), minlength=3),
        ],
        sig='x, weights=None, minlength=0',
        dtypes=BOOL + INTS,
        out='int64',
        order=0,
        errors=[
            (call(c([1, -2], 'int32')), 'ValueError', '-2'),
            (call(i(2, 2)), 'DimensionError', r'\(2, 2\)'),
            (call(i()), 'DimensionError'),
            (call(f(3)), 'DtypeError', 'float64'),
            (call(i(3), minlength=-1), 'ValueError', '-1'),
            (call(i(3), minlength=1.5), 'TypeError'),
            (call(i(3), f(2)), 'DimensionError', r'\(2,\)'),
            (call(i(3), 'x'), 'TypeError'),
            (call(c([2**63 - 1], 'int64')), 'ValueError'),
        ],
        huge=False,
    ),
    Case(
        'bincount',
        _weighted,
        fn=lambda x, weights, *args: __import__('chainerx').bincount(x, weights, *args),
        calls=[
            call(i(9, hi=4), f(9)),
            call(c([0, 3, 1, 3, 3], 'uint8'), f(5), 6),
            call(i(0), f(0), 2),
        ],
        dtypes=BOOL + REAL,
        unchecked=('complex64', 'complex128'),
        out=_edges_dtype,
        big=call(i(40000, hi=90), f(40000)),
        tol=2,
        huge=False,
    ),
    Case(
        'histogram_bin_edges',
        np.histogram_bin_edges,
        calls=_HISTOGRAMS[:4]
        + _HISTOGRAMS[5:-1]
        + [call(_DATA, r) for r in RULES]
        + [call(_DATA, r, (-1, 2)) for r in RULES]
        + [
            call(c([1, 1, 1]), 'fd'),
            call(f(0), 'auto'),
            call(f(1), 'doane'),
            call(f(300), 'stone'),
        ],
        sig='a, bins=10, range=None, weights=None',
        dtypes=('float64',),
        unchecked=(*BOOL, *INTS, 'float16', 'bfloat16', 'float32'),
        out='float64',
        order=0,
        errors=_BIN_ERRORS + _EDGE_ERRORS,
        tol=10,
        huge=False,
    ),
    Case(
        'histogram_bin_edges',
        np.histogram_bin_edges,
        calls=[call(_DATA, 5), call(f(40, lo=0, hi=99), 4, (0, 80)), call(f(0))],
        dtypes=BOOL[1:] + REAL,
        unchecked=BOOL,
        out=_edges_dtype,
        order=0,
        huge=False,
    ),
    Case(
        'histogram',
        **_parts(0, 'histogram'),
        calls=_HISTOGRAMS,
        dtypes=REAL,
        unchecked=('bool', 'float16', 'bfloat16'),
        out='int64',
        order=0,
        errors=_BIN_ERRORS + _EDGE_ERRORS,
        huge=False,
        layouts=False,
    ),
    Case(
        'histogram',
        **_parts(1, 'histogram'),
        calls=[call(_DATA, 5), call(_DATA, 7, (-1.5, 2.5))],
        dtypes=REAL,
        unchecked=BOOL,
        out=_edges_dtype,
        order=0,
        huge=False,
    ),
    Case(
        'histogram',
        lambda a, weights, *args, **kw: np.histogram(a, *args, weights=weights, **kw)[0],
        fn=lambda a, weights, *args, **kw: __import__('chainerx').histogram(
            a, *args, weights=weights, **kw
        )[0],
        calls=[
            call(own('float64', 30), f(30)),
            call(own('float64', 5, 6), f(5, 6), 4, (-1, 1)),
            call(own('float64', 30), f(30, lo=0.5), [-1, 0, 2], density=True),
        ],
        dtypes=('float32', 'float64'),
        unchecked=tuple(d for d in ALL if d not in ('float32', 'float64')),
        out='same',
        tol=4,
        huge=False,
    ),
    Case(
        'histogram',
        **_parts(0, 'histogram'),
        calls=[call(_DATA, 5, density=True), call(_DATA, [-2, 0, 0.5, 2], None, True)],
        dtypes=('float64',),
        unchecked=tuple(d for d in ALL if d != 'float64'),
        out='float64',
        order=0,
        tol=4,
        huge=False,
    ),
    *(
        Case(
            'histogram2d',
            **_parts(n, 'histogram2d'),
            calls=_POINTS,
            dtypes=('float64',),
            unchecked=tuple(d for d in ALL if d != 'float64'),
            out='int64' if n == 0 else lambda *d: None,
            order=0,
            errors=[
                (call(f(3), f(4)), 'DimensionError', r'\(4,\)'),
                (call(f(3, 1), f(3, 1)), 'DimensionError'),
                (call(f(3), f(3), 'auto'), 'TypeError'),
                (call(f(3), f(3), (0, 3)), 'ValueError', '0'),
                (call(f(3), f(3), 3, (0, 1)), 'TypeError'),
                (call(f(3), f(3), 3, ((0, 1),)), 'ValueError', '1'),
                (call(f(3), f(3), weights=f(2)), 'DimensionError', r'\(2,\)'),
            ],
            huge=False,
        )
        for n in (0,)
    ),
    Case(
        'histogramdd',
        **_parts(0, 'histogramdd'),
        calls=[
            call(f(40, 3), 3, ((-2, 2),) * 3),
            call((f(20), f(20)), (2, 4), ((-2, 2), (-1, 1))),
            call(f(20, 1), ([-1, 0, 1],)),
            call(f(20, 2), ([-1, 0, 1], [-2, 2])),
        ],
        dtypes=('float64',),
        unchecked=tuple(d for d in ALL if d != 'float64'),
        out='int64',
        order=0,
        errors=[
            (call(f(3)), 'DimensionError', r'\(3,\)'),
            (call(f(3, 2), (3,)), 'ValueError', '1'),
            (call(f(3, 2), 3, ((0, 1),)), 'ValueError', '1'),
            (call(f(3, 0)), 'DimensionError', '0'),
            (call(()), 'DimensionError', '0'),
        ],
        huge=False,
    ),
    Case(
        'histogram2d',
        lambda x, y, w: np.histogram2d(x, y, 3, ((-2, 2), (-2, 2)), True, w)[0],
        fn=lambda x, y, w: __import__('chainerx').histogram2d(x, y, 3, ((-2, 2), (-2, 2)), True, w)[
            0
        ],
        calls=[call(own('float64', 30), own('float64', 30), f(30, lo=0.5))],
        dtypes=('float64',),
        unchecked=tuple(d for d in ALL if d != 'float64'),
        tol=4,
        huge=False,
    ),
]
