"""Set routines."""

import numpy as np
from cases._promotion import BOOL, COMPLEX, FLOATS, INTS
from cases._table import ALL, Case, c, call, f

NAN = np.nan


def _few(*shape):
    """Values among which many are equal."""
    return c(np.arange(int(np.prod(shape))).reshape(shape) * 7 % 5)


def _unique(ar, *args, **kw):
    kw.pop('sorted', None)
    return np.unique(ar, *args, **kw)


def _parts(function, n, name):
    """Selects one of the results, since a row has one dtype."""

    def ref(*args, **kw):
        return function(*args, **kw)[n]

    def fn(*args, **kw):
        import chainerx

        return getattr(chainerx, name)(*args, **kw)[n]

    return {'ref': ref, 'fn': fn}


def _float_rows(name, ref, calls, **kw):
    return Case(
        name,
        ref,
        calls=calls,
        dtypes=FLOATS,
        unchecked=BOOL + INTS + COMPLEX,
        order=0,
        diff=(),
        huge=False,
        **kw,
    )


_ODD_ROWS = c([[1, NAN, 1], [NAN, 1, NAN], [1, NAN, 1], [2, 1, 2], [2, 1, 2]])
_ODD = c([NAN, 1, NAN, 0.0, -0.0, np.inf, 1, NAN])
_SHAPES = [
    call(_few(9)),
    call(_few(3, 4)),
    call(f(70, lo=0, hi=3)),
    call(f(2, 3, 2)),
    call(f(1)),
    call(f()),
    call(f(0)),
    call(f(0, 3)),
]
_ALL = (True, True, True)
_SLICES = [
    call(_few(6, 2), *_ALL, axis=0),
    call(_few(3, 8), *_ALL, axis=1),
    call(_few(4, 2, 3), *_ALL, axis=-2),
    call(_few(6), *_ALL, axis=0),
    call(f(0, 2), *_ALL, axis=0),
]
_TWO = [
    call(_few(9), f(7, lo=0, hi=6)),
    call(_few(3, 4), _few(2, 2)),
    call(f(0), _few(3)),
    call(_few(3), f(0)),
    call(f(0), f(0)),
    call(f(1), f(1)),
]
_UNIQUE_TWO = [
    call(c([3, 1, 5, 0]), c([5, 2, 3]), True),
    call(c([3, 1]), c([5, 0]), assume_unique=True),
]
_OP_ERRORS = [(call(f(2), 'a'), 'TypeError'), (call('a', f(2)), 'TypeError')]


def _two(name, ref, calls, sig='ar1, ar2, assume_unique=False', **kw):
    return Case(
        name,
        ref,
        calls=calls,
        sig=sig,
        dtypes=ALL,
        order=0,
        errors=_OP_ERRORS,
        huge=False,
        **kw,
    )


CASES = [
    Case(
        'unique',
        _unique,
        calls=[*_SHAPES, call(_few(6, 2), axis=0), call(_few(2, 6), False, False, False, 1)],
        sig='ar, return_index=False, return_inverse=False, return_counts=False, axis=None,'
        ' equal_nan=True, sorted=True',
        dtypes=ALL,
        order=0,
        errors=[
            (call(f(2, 3), axis=2), 'DimensionError', '2'),
            (call(f(), axis=0), 'DimensionError'),
            (call('a'), 'TypeError'),
        ],
        big=call(f(40000)),
        huge=False,
    ),
    *(
        Case(
            'unique',
            **_parts(_unique, n, 'unique'),
            calls=[call(s.args[0], *_ALL) for s in _SHAPES] + _SLICES,
            dtypes=ALL,
            out='same' if n == 0 else 'int64',
            order=0,
            huge=False,
        )
        for n in range(4)
    ),
    _float_rows('unique', _unique, [call(_ODD), call(_ODD, equal_nan=False)]),
    _float_rows('unique', _unique, [call(_ODD, axis=0), call(_ODD_ROWS, axis=0)]),
    _float_rows('unique', _unique, [call(_ODD_ROWS, axis=1), call(c([[NAN, 1, NAN]]), axis=1)]),
    _float_rows(
        'unique',
        calls=[call(_ODD, *_ALL), call(_ODD, *_ALL, equal_nan=False)],
        **_parts(_unique, 3, 'unique'),
        out='int64',
    ),
    *(
        Case(
            name,
            **_parts(getattr(np, name), n, name),
            calls=_SHAPES,
            dtypes=ALL,
            out='same' if n == 0 else 'int64',
            order=0,
            errors=[(call('a'), 'TypeError')],
            huge=False,
        )
        for name, count in (('unique_all', 4), ('unique_counts', 2), ('unique_inverse', 2))
        for n in range(count)
    ),
    Case(
        'unique_values',
        lambda x: np.unique(x, equal_nan=False),
        calls=_SHAPES,
        sig='x',
        dtypes=ALL,
        order=0,
        errors=[(call('a'), 'TypeError')],
        huge=False,
    ),
    _float_rows('unique_values', lambda x: np.unique(x, equal_nan=False), [call(_ODD)]),
    Case(
        'isin',
        np.isin,
        calls=[
            call(_few(3, 4), _few(3)),
            call(f(70, lo=0, hi=9), c([1, 2, 7])),
            call(_few(9), c([1, 3]), invert=True),
            call(_few(9), c([1, 3]), True, False, kind='sort'),
            call(_few(9), f(0)),
            call(_few(9), f(0), invert=True),
            call(f(0), _few(3)),
            call(f(), _few(3)),
            call(_few(9), 1),
            call(_few(9), [1, 2]),
            call(_few(9), np.array([[3.0], [0.5]])),
        ],
        sig='element, test_elements, assume_unique=False, invert=False, kind=None',
        dtypes=ALL,
        out='bool',
        order=0,
        errors=[
            (call(f(2), 'a'), 'TypeError'),
            (call(f(2), None), 'TypeError'),
            (call(f(2), f(2), kind='tree'), 'ValueError', 'tree'),
            (call(f(2), c([1, 2], 'int64'), kind='table'), 'ValueError', 'element has dtype float'),
            (
                call(c([1, 2], 'int64'), f(2), kind='table'),
                'ValueError',
                'test_elements has dtype float',
            ),
        ],
        huge=False,
    ),
    _float_rows('isin', np.isin, [call(_ODD, _ODD), call(_ODD, c([NAN, 0]))], out='bool'),
    _two('union1d', np.union1d, _TWO, 'ar1, ar2'),
    _two('intersect1d', np.intersect1d, _TWO + _UNIQUE_TWO, sig=''),
    *(
        Case(
            'intersect1d',
            **_parts(np.intersect1d, n, 'intersect1d'),
            calls=[call(*s.args, **s.kw, return_indices=True) for s in _TWO[:3] + _UNIQUE_TWO]
            + [call(f(0), f(0), False, True)],
            dtypes=ALL,
            out='same' if n == 0 else 'int64',
            order=0,
            huge=False,
        )
        for n in range(3)
    ),
    _two('setdiff1d', np.setdiff1d, _TWO + _UNIQUE_TWO, out='first'),
    _two('setxor1d', np.setxor1d, _TWO + _UNIQUE_TWO),
    *(
        _float_rows(name, getattr(np, name), [call(_ODD, c([NAN, 1, 2]))])
        for name in ('union1d', 'intersect1d', 'setdiff1d', 'setxor1d')
    ),
]
