"""Reductions and statistics."""

import warnings

import numpy as np
import scipy.special
from cases._promotion import math, real
from cases._table import ALL, BOOL, COMPLEX, REAL, Case, b, call, f, own

INF, NAN = np.inf, np.nan

_AXES = [
    call(f(2, 3)),
    call(f(2, 3), axis=0),
    call(f(2, 3), axis=-1),
    call(f(2, 3), axis=1, keepdims=True),
    call(f(2, 3, 2), axis=(0, 2)),
    call(f(2, 3, 2), axis=(-1, 0), keepdims=True),
    call(f(2, 3, 2), keepdims=True),
    call(f(2, 3, 2), axis=()),
    call(f()),
    call(f(), keepdims=True),
    call(f(70)),
    call(f(3, 37), axis=0),
    call(f(37, 3), axis=0),
    call(f(5, 1, 4), axis=1),
]
_EMPTY = [call(f(0)), call(f(2, 0), axis=1), call(f(2, 0), axis=0), call(f(0, 3), keepdims=True)]
_AXIS_ERRORS = [
    (call(f(2, 3), axis=2), 'DimensionError', '2'),
    (call(f(2, 3), axis=-3), 'DimensionError', '-3'),
    (call(f(2, 3), axis=(0, 0)), 'DimensionError'),
    (call(f(2, 3), axis=(1, -1)), 'DimensionError'),
    (call(f(), axis=1), 'DimensionError', '1'),
    (call(f(2, 3), axis='0'), 'TypeError'),
    (call(f(2, 3), axis=0.5), 'TypeError'),
    (call(f(2, 3), axis=float('nan')), 'TypeError'),
]


def _distinct(calls):
    """The same calls with distinct values: extremes have a kink at a tie."""
    return [c.map(lambda a: f(*a.shape, distinct=True)) for c in calls]


def _reduce(name, ref, dtypes, out, calls=None, errors=(), **kw):
    kw.setdefault('sig', 'a, axis=None, keepdims=False')
    kw.setdefault('big', call(f(301, 403), axis=0))
    # The others accept axis 0 of an array without dimensions, as in NumPy.
    if name in ('mean', 'var', 'std', 'logsumexp'):
        errors = [*errors, (call(f(), axis=0), 'DimensionError', '0')]
    return Case(
        name,
        ref,
        calls=_AXES + _EMPTY if calls is None else calls,
        dtypes=dtypes,
        out=out,
        errors=[*_AXIS_ERRORS, *errors],
        huge=False,
        tol=4,
        **kw,
    )


def _logsumexp(x, axis=None, keepdims=False):
    if x.ndim == 0:
        return x  # SciPy adds a dimension
    if x.size == 0 and np.sum(x, axis=axis).size:
        return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))
    if axis == () or x.ndim == 0:  # SciPy adds an axis
        return x
    return scipy.special.logsumexp(x, axis=axis, keepdims=keepdims)


def quiet(ref):
    def run(*args, **kw):
        with np.errstate(all='ignore'), warnings.catch_warnings():
            warnings.simplefilter('ignore', RuntimeWarning)
            return ref(*args, **kw)

    return run


_NO_VALUE = [
    (call(f(0)), 'DimensionError'),
    (call(f(2, 0), axis=1), 'DimensionError'),
]
_ARG_CALLS = [
    call(f(2, 3)),
    call(f(2, 3), axis=0),
    call(f(2, 3), axis=-1),
    call(f(70)),
    call(f()),
    call(f(4, 9), axis=0),
    call(f(3, 2, 4), axis=1),
]
_ARG_ERRORS = [
    (call(f(2, 3), axis=2), 'DimensionError', '2'),
    (call(f(2, 3), axis=-3), 'DimensionError', '-3'),
    (call(f(2, 3), axis='0'), 'TypeError'),
    *_NO_VALUE,
]


def _arg(name, ref, dtypes=BOOL + REAL, calls=None):
    return Case(
        name,
        ref,
        sig='a, axis=None',
        calls=calls or [*_ARG_CALLS, call(f(2, 0), axis=0)],
        dtypes=dtypes,
        maybe=COMPLEX,
        out='int64',
        order=0,
        errors=_ARG_ERRORS,
        big=call(f(301, 403), axis=0),
        huge=False,
    )


def _with_nan(*shape):
    x = np.linspace(-2, 3, int(np.prod(shape))).reshape(shape)
    x.flat[1::3] = NAN
    return own('float32', *shape, data=x)


CASES = [
    _reduce('sum', np.sum, ALL, 'total'),
    _reduce('prod', np.prod, ALL, 'total', [*_AXES[:-4], call(f(5, 1, 4), axis=1), *_EMPTY]),
    _reduce('nansum', np.nansum, BOOL + REAL, 'total', maybe=COMPLEX),
    Case(
        'nansum',
        np.nansum,
        calls=[call(_with_nan(3, 4)), call(_with_nan(3, 4), axis=1)],
        dtypes=('float32',),
        out='float32',
        order=1,
        huge=False,
    ),
    _reduce('mean', quiet(np.mean), ALL, 'float'),
    _reduce('var', quiet(np.var), BOOL + REAL, 'float', maybe=COMPLEX),
    _reduce(
        'std',
        quiet(np.std),
        BOOL + REAL,
        'float',
        [c for c in _AXES if c.args[0].shape and c.kw.get('axis') not in ((), 1)],
        maybe=COMPLEX,
    ),
    *(
        _reduce(
            name,
            ref,
            BOOL + REAL,
            'same',
            [*_distinct(_AXES), call(f(2, 0), axis=0)],
            errors=_NO_VALUE,
            maybe=COMPLEX,
        )
        for name, ref in (('max', np.max), ('amax', np.max), ('min', np.min), ('amin', np.min))
    ),
    _reduce(
        'logsumexp', quiet(_logsumexp), BOOL + REAL, 'float', sig='x, axis=None, keepdims=False'
    ),
    _arg('argmax', np.argmax),
    _arg('argmin', np.argmin),
    _arg('nanargmax', np.nanargmax),
    _arg('nanargmin', np.nanargmin),
    *(
        Case(
            name,
            ref,
            calls=[call(_with_nan(3, 4)), call(_with_nan(3, 4), axis=1)],
            dtypes=('float32',),
            out='int64',
            order=0,
            huge=False,
        )
        for name, ref in (('nanargmax', np.nanargmax), ('nanargmin', np.nanargmin))
    ),
    Case(
        'count_nonzero',
        np.count_nonzero,
        sig='a, axis=None',
        calls=[
            call(f(2, 3, lo=-1, hi=1)),
            call(f(2, 3, lo=-1, hi=1), axis=0),
            call(f(2, 3, 2, lo=-1, hi=1), axis=(0, 2)),
            call(f()),
            call(f(0)),
            call(b(3, 3), axis=1),
        ],
        dtypes=ALL,
        out='int64',
        order=0,
        errors=[(call(f(2, 3), axis=2), 'DimensionError')],
        huge=False,
    ),
    Case(
        'cumprod',
        np.cumprod,
        sig='a, axis=None',
        calls=[
            call(f(2, 3)),
            call(f(2, 3), axis=0),
            call(f(2, 3), axis=-1),
            call(f(2, 3, 2), axis=1),
            call(f(0)),
            call(f(2, 0), axis=0),
        ],
        dtypes=ALL,
        out='total',
        tol=4,
        errors=[(call(f(2, 3), axis=2), 'DimensionError', '2')],
        huge=False,
    ),
    Case(
        'cumsum',
        np.cumsum,
        sig='a, axis=None',
        calls=[
            call(f(2, 3)),
            call(f(2, 3), axis=0),
            call(f(2, 3), axis=-1),
            call(f(2, 3, 2), axis=1),
            call(f(40)),
            call(f()),
            call(f(0)),
            call(f(2, 0), axis=0),
        ],
        dtypes=ALL,
        out='total',
        tol=4,
        errors=[
            (call(f(2, 3), axis=2), 'DimensionError', '2'),
            (call(f(2, 3), axis=-3), 'DimensionError', '-3'),
        ],
        big=call(f(301, 403), axis=0),
        huge=False,
    ),
]
# The variance of complex numbers is real.
for _case in CASES:
    if _case.name in ('var', 'std'):
        object.__setattr__(_case, 'out', lambda d: real(math(d)))
