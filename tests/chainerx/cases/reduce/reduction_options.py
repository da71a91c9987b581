"""Reductions with all their options, and those that ignore NaN."""

import functools
import warnings

import numpy as np
from cases._promotion import math, real
from cases._table import ALL, BOOL, COMPLEX, FLOATS, INTS, REAL, Case, b, c, call, f, own

INF, NAN = np.inf, np.nan


def quiet(ref):
    @functools.wraps(ref)
    def run(*args, **kw):
        with np.errstate(all='ignore'), warnings.catch_warnings():
            warnings.simplefilter('ignore')
            return ref(*args, **kw)

    return run


def _case(name, ref, calls, dtypes, out='same', **kw):
    return Case(name, quiet(ref), calls=calls, dtypes=dtypes, out=out, tol=4, huge=False, **kw)


_MASK = c([[True, False, True], [True, True, False]], 'bool')
_MASKS = [
    call(f(2, 3), where=_MASK),
    call(f(2, 3), axis=1, where=_MASK),
    call(f(2, 3), axis=0, keepdims=True, where=c([True, False, True], 'bool')),
    call(f(2, 3), axis=(0, 1), where=c([[True], [False]], 'bool')),
]
_MEAN_MASKS = [
    call(f(4, 2), axis=0, where=c([[True], [False], [True], [True]], 'bool')),
    *_MASKS[:2],
]
# Integers whose mean is below a unit in the last place of float32.
_LARGE = [2**30 + 1, 3, 2 - 2**30]
_TOTALS = [
    *_MASKS,
    call(f(2, 3), initial=2),
    call(f(2, 3), axis=1, initial=3, where=_MASK),
    call(f(0), initial=2),
]
_DTYPES = [
    call(own('float32', 2, 3), dtype='float64'),
    call(own('int64', 2, 3, lo=-9, hi=9), axis=1, dtype='int8'),
    call(own('int8', 2, 3, lo=-9, hi=9), dtype='float32'),
    call(own('float64', 2, 3, lo=-9, hi=9), axis=0, dtype='int32'),
    call(b(2, 3), dtype='uint8'),
]


def _rounded(ref):
    """Casts the operand before, as NumPy does; the reference gets wider dtypes."""

    def run(a, dtype, **kw):
        return ref(a.astype(np.dtype(dtype)), dtype=dtype, **kw)

    return run


_EXTREMES = [
    call(f(2, 3, distinct=True), initial=-9, where=_MASK),
    call(f(2, 3, distinct=True), axis=1, initial=-9, where=_MASK),
    call(f(2, 3, distinct=True), axis=0, keepdims=True, initial=-9),
]
_NOTHING = [call(f(2, 0), axis=1, initial=4), call(f(0), initial=2, where=b(1))]


def _signed(spec):
    """Replaces unsigned dtypes by signed ones."""
    return call(*spec.args, **(spec.kw | {'initial': 9}))


_SPREADS = [
    call(f(2, 3), ddof=1),
    call(f(2, 3), axis=1, correction=1),
    call(f(2, 3), axis=0, ddof=0.5, keepdims=True),
    call(f(2, 3), ddof=2, where=c([[True], [True]], 'bool')),
    call(f(4, 3), axis=0, where=c([[True], [False], [True], [True]], 'bool')),
    call(f(2, 3), axis=1, mean=own('float32', 2, 1, data=[[0.5], [-0.25]])),
]


def _spread(ref, root):
    def run(a, axis=None, keepdims=False, mean=None, **kw):
        if mean is None:
            return ref(a, axis=axis, keepdims=keepdims, **kw)
        y = np.mean(np.abs(a - mean) ** 2, axis=axis, keepdims=keepdims)
        return np.sqrt(y) if root else y

    return run


def _holes(*shape, dtype='float32'):
    x = np.linspace(-2, 3, int(np.prod(shape))).reshape(shape)
    x.flat[1::3] = NAN
    return own(dtype, *shape, data=x)


_NAN_CALLS = [
    call(_holes(3, 4)),
    call(_holes(3, 4), axis=1),
    call(_holes(4, 3), axis=0, keepdims=True),
]
_ALL_NAN = own('float32', 2, 3, data=[[NAN, NAN, NAN], [1, NAN, 2]])
_AXIS_ERRORS = [
    (call(f(2, 3), axis=2), 'DimensionError', '2'),
    (call(f(2, 3), axis=(0, 0)), 'DimensionError'),
]
_AXES = [
    call(f(2, 3)),
    call(f(2, 3), axis=0),
    call(f(2, 3, 2), axis=(0, 2), keepdims=True),
    call(f(67)),
    call(f()),
]


# At least as many degrees of freedom as numbers.
_NONE_LEFT = [
    call(_ALL_NAN, axis=1, ddof=2),
    call(_ALL_NAN, ddof=4),
    call(_holes(3, 4), axis=1, ddof=3, keepdims=True),
]


def _nan(name, ref, dtypes=BOOL + REAL, out='same', calls=(), errors=(), more=(), **kw):
    """A row without NaN for every dtype, and one with them."""
    yield _case(
        name,
        ref,
        # A square root has no derivative at 0.
        [*(_AXES[:-1] if name == 'nanstd' else _AXES), *calls],
        dtypes,
        out,
        sig='a, axis=None, keepdims=False',
        errors=[*_AXIS_ERRORS, *errors],
        **{'maybe': COMPLEX} | kw,
    )
    yield _case(
        name,
        ref,
        [*_NAN_CALLS, call(_ALL_NAN, axis=1), call(_ALL_NAN, axis=0), *more],
        ('float32',),
        'float32',
        order=0 if name in ('nanvar', 'nanstd') else 1,
        diff=(),
    )


CASES = [
    *(
        _case(name, ref, _TOTALS, BOOL + REAL, 'total', maybe=COMPLEX)
        for name, ref in (('sum', np.sum), ('prod', np.prod), ('nansum', np.nansum))
    ),
    *(
        _case(name, _rounded(ref), _DTYPES, ('float32',), diff=())
        for name, ref in (('sum', np.sum), ('prod', np.prod), ('nanprod', np.nanprod))
    ),
    _case('max', np.max, _EXTREMES, INTS[:4] + FLOATS, unchecked=ALL),
    _case('min', np.min, [_signed(s) for s in _EXTREMES], INTS + FLOATS, unchecked=ALL),
    *(
        _case(name, ref, _NOTHING, INTS + FLOATS, unchecked=ALL, diff=())
        for name, ref in (('max', np.max), ('min', np.min))
    ),
    _case('mean', np.mean, _MEAN_MASKS, ALL, 'float'),
    _case('mean', np.mean, [call(own('int32', 2, 3), dtype='float64')], ('float32',)),
    *(
        _case(name, getattr(np, name), [call(c(_LARGE, 'int32'), **options)], ('int32',), 'float')
        for name in ('mean', 'nanmean', 'std', 'nanvar')
        for options in ({}, {'where': c([True] * 3, 'bool')})
    ),
    *(
        _case(
            name,
            _spread(ref, name == 'std'),
            _SPREADS,
            BOOL + REAL,
            'float',
            maybe=COMPLEX,
            errors=[
                (call(f(3), mean=f(2, 3)), 'DimensionError', 'mean of shape'),
                (call(f(), axis=(), mean=f(1)), 'DimensionError', 'does not broadcast to'),
                (call(f(2, 3), mean=f(2)), 'DimensionError', 'does not broadcast to'),
            ],
        )
        for name, ref in (('var', np.var), ('std', np.std))
    ),
    *(
        _case(name, ref, [*_MASKS, call(f(0), where=b(1))], ALL, 'bool', order=0)
        for name, ref in (('all', np.all), ('any', np.any))
    ),
    *_nan('nanprod', np.nanprod, out='total', calls=[call(f(2, 3), initial=3, where=_MASK)]),
    *_nan('nanmean', np.nanmean, out='float', calls=_MEAN_MASKS),
    *_nan(
        'nanvar',
        np.nanvar,
        out='float',
        calls=[call(f(2, 3), ddof=1), call(f(2, 3), where=_MASK)],
        more=_NONE_LEFT,
    ),
    *_nan(
        'nanstd',
        np.nanstd,
        out='float',
        calls=[call(f(2, 3), axis=1, correction=1)],
        more=_NONE_LEFT,
    ),
    *(
        row
        for name, ref, least in (('nanmax', np.nanmax, 0), ('nanmin', np.nanmin, 9))
        for row in _nan(
            name,
            ref,
            calls=[call(f(2, 3, distinct=True), initial=least, where=_MASK)],
            errors=[
                (call(f(0)), 'DimensionError'),
                (call(f(2, 3), where=_MASK), 'ValueError', 'initial'),
            ],
        )
    ),
    *(
        _case(
            name,
            ref,
            [call(_holes(3, 4)), call(_holes(3, 4), axis=1), call(f(2, 3), 0), call(f(2, 3))],
            ('float32',),
            'float32',
            sig='a, axis=None, dtype=None, out=None',
            unchecked=tuple(d for d in ALL if d != 'float32'),
            errors=[(call(f(2, 3), axis=2), 'DimensionError', '2')],
            order=1,
        )
        for name, ref in (('nancumsum', np.nancumsum), ('nancumprod', np.nancumprod))
    ),
    *(
        _case(name, _rounded(ref), _DTYPES, ('float32',), diff=())
        for name, ref in (('cumsum', np.cumsum), ('cumprod', np.cumprod))
    ),
    *(
        _case(
            name,
            ref,
            [
                call(f(2, 3, distinct=True), axis=1, keepdims=True),
                call(f(2, 3, distinct=True), keepdims=True),
            ],
            BOOL + REAL,
            maybe=COMPLEX,
            out='int64',
            order=0,
        )
        for name, ref in (
            ('argmax', np.argmax),
            ('argmin', np.argmin),
            ('nanargmax', np.nanargmax),
            ('nanargmin', np.nanargmin),
        )
    ),
    _case(
        'count_nonzero',
        np.count_nonzero,
        [call(f(2, 3, lo=0), axis=1, keepdims=True), call(f(2, 3, lo=0), keepdims=True)],
        ALL,
        'int64',
        order=0,
    ),
    Case(
        'ptp',
        lambda a, axis=None, out=None, keepdims=False: np.ptp(a, axis=axis, keepdims=keepdims),
        sig='a, axis=None, out=None, keepdims=False',
        calls=[c.map(lambda a: f(*a.shape, distinct=True)) for c in _AXES],
        dtypes=REAL,
        maybe=COMPLEX,
        errors=[*_AXIS_ERRORS, (call(f(0)), 'DimensionError')],
    ),
]
for _row in CASES:  # real, also for complex numbers
    if _row.name.endswith(('var', 'std')) and _row.out == 'float':
        object.__setattr__(_row, 'out', lambda *d: real(math(d[0])))
