"""Medians and quantiles."""

import dataclasses

import numpy as np
from cases._promotion import BOOL, COMPLEX, FLOATS, INTS, REAL
from cases._table import Case, c, call, f

NAN = np.nan
METHODS = """
    inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull
    linear median_unbiased normal_unbiased lower higher midpoint nearest
"""


def _quiet(function):
    def run(a, *args, **kw):
        import warnings

        with np.errstate(all='ignore'), warnings.catch_warnings():
            warnings.simplefilter('ignore')
            if a.dtype.kind == 'b':
                a = a.astype('f8')
            return function(a, *args, **kw)

    return run


def _quantile(function):
    def run(a, q, axis=None, *, method='linear', keepdims=False):
        kept = np.sum(a, axis=axis, keepdims=keepdims).shape
        if a.size == 0 or 0 in kept:  # NumPy raises an error
            return np.full(np.shape(q) + kept, NAN)
        return function(a, q, axis, method=method, keepdims=keepdims)

    return _quiet(run)


def _distinct(*shape):
    return f(*shape, distinct=True)


_AXES = [
    call(_distinct(7)),
    call(_distinct(8)),
    call(_distinct(3, 5), axis=0),
    call(_distinct(3, 4), axis=-1),
    call(_distinct(3, 4), axis=1, keepdims=True),
    call(_distinct(2, 3, 4), axis=(0, 2)),
    call(_distinct(2, 3, 4), axis=(-1, 0), keepdims=True),
    call(_distinct(2, 3), keepdims=True),
    call(_distinct(5, 1), axis=1),
    call(_distinct(1)),
    call(f()),
]
_AXIS_ERRORS = [
    (call(f(2, 3), axis=2), 'DimensionError', '2'),
    (call(f(2, 3), axis=(0, 0)), 'DimensionError'),
    (call(f(2, 3), axis='0'), 'TypeError'),
]
_EMPTY = [call(f(0)), call(f(2, 0), axis=1), call(f(2, 0), axis=0), call(f(0, 3), keepdims=True)]


def _with_nan(*shape):
    x = np.linspace(-2, 3, int(np.prod(shape))).reshape(shape)
    x.flat[1::4] = NAN
    return x


def _nan_calls(*rest):
    x = _with_nan(4, 5)
    x[2] = NAN
    y = _with_nan(3, 3)
    return [
        call(c(x), *rest),
        call(c(x), *rest, axis=0),
        call(c(x), *rest, axis=1),
        call(c(y), *rest, axis=-1, keepdims=True),
    ]


def _of_nan(name, ref, *rest):
    return Case(
        name,
        ref,
        calls=_nan_calls(*rest),
        dtypes=FLOATS,
        unchecked=BOOL + INTS + COMPLEX,
        out='same',
        order=0,
        diff=(),
        tol=4,
        huge=False,
    )


def _median(name, ref):
    return Case(
        name,
        _quiet(ref),
        calls=[*_AXES, call(f(0)), call(f(2, 0), axis=1)],
        sig='a, axis=None, keepdims=False',
        dtypes=BOOL + REAL + COMPLEX,
        out='float',
        errors=_AXIS_ERRORS,
        big=call(_distinct(40001)),
        tol=4,
        huge=False,
    )


def _quantiles(name, ref, most):
    first = [
        call(c.args[0], most * q, **c.kw)
        for c, q in zip(_AXES, [0.5, 0.3, 0.25, 0.1, 0.9, 0.6, 0, 1, 0.7, 0.2, 0.4], strict=True)
    ]
    some = [most * q for q in (0.0, 0.15, 0.5, 0.8, 1.0)]
    return Case(
        name,
        _quantile(ref),
        calls=[
            *first,
            call(_distinct(9), some),
            call(_distinct(4, 9), np.array(some), 1),
            call(_distinct(4, 6), some[:4], axis=0, keepdims=True),
            call(_distinct(4, 6), np.array(some[:4]).reshape(2, 2), axis=(0, 1)),
            call(_distinct(6), []),
            *(call(_distinct(n), some, method=m) for m in METHODS.split() for n in (8, 11)),
            *(call(e.args[0], most * 0.3, **e.kw) for e in _EMPTY),
            call(f(0), some),
        ],
        sig="a, q, axis=None, method='linear', keepdims=False",
        dtypes=BOOL + REAL,
        out='float',
        errors=[
            (call(f(3), -0.1), 'ValueError', '-0.1'),
            (call(f(3), [0.5, most * 1.5]), 'ValueError', '1.5' if most == 1 else '150'),
            (call(f(3), NAN), 'ValueError', 'nan'),
            (call(f(3), 0.5, method='middle'), 'ValueError', 'middle'),
            (call(f(3), 0.5, method=1), 'TypeError'),
            (call(f(3), 'a'), 'TypeError'),
            (call(f(3), [0.5j]), 'DtypeError'),
            *((call(e[0].args[0], 0.5, **e[0].kw), *e[1:]) for e in _AXIS_ERRORS),
        ],
        big=call(_distinct(40001), 0.3 * most),
        tol=8,
        gtol=2,
        huge=False,
    )


def _weights(*shape):
    w = np.arange(1.0, np.prod(shape) + 1).reshape(shape) % 7  # with zeros
    return c(w, 'float64')


def _weighted(name, ref, most):
    some = [most * q for q in (0.0, 0.15, 0.5, 0.8, 1.0)]
    how = {'method': 'inverted_cdf'}

    def run(a, q, axis=None, *, method='inverted_cdf', weights, keepdims=False):
        if a.size == 0:
            return np.full(np.shape(q) + np.sum(a, axis=axis, keepdims=keepdims).shape, NAN)
        return ref(a, q, axis, method=method, weights=weights, keepdims=keepdims)

    return Case(
        name,
        _quiet(run),
        calls=[
            call(_distinct(7), some, weights=_weights(7), **how),
            call(_distinct(3, 5), some, axis=1, weights=_weights(3, 5), **how),
            call(_distinct(3, 5), 0.3 * most, axis=0, weights=_weights(3), keepdims=True, **how),
            call(_distinct(3, 4), some, weights=_weights(3, 4), **how),
            call(_distinct(2, 3, 4), some, axis=(2, 0), weights=_weights(4, 2), **how),
            call(_distinct(2, 3, 3), some, axis=(0, 1), weights=_weights(2, 3, 3), **how),
            call(_distinct(5), [], weights=_weights(5), **how),
            call(f(2, 0), 0.5 * most, axis=1, weights=_weights(0), **how),
            call(f(), 0.5 * most, weights=c(2.0, 'float64'), **how),
        ],
        dtypes=BOOL + REAL,
        out='float',
        diff=(0,),
        errors=[
            (call(f(3), 0.5, weights=_weights(3)), 'ValueError', 'inverted_cdf'),
            (call(f(3), 0.5, weights=c([1, -2, 1]), **how), 'ValueError', '-2'),
            (call(f(2, 3), 0.5, weights=_weights(3), **how), 'DimensionError'),
            (call(f(2), 0.5, weights=c([0, 0]), **how), 'ValueError', 'add up to 0'),
            (call(f(2), 0.5, weights=c([1, NAN], 'float32'), **how), 'ValueError', 'finite'),
            (call(f(2, 3), 0.5, axis=0, weights=_weights(3), **how), 'DimensionError', '3'),
            (call(f(3), 0.5, weights='x', **how), 'TypeError', 'weights'),
            (call(f(3), 0.5, weights=c([1j, 2, 3], 'complex64'), **how), 'DtypeError'),
        ],
        tol=8,
        huge=False,
    )


def _weighted_nan(name, ref, most):
    row = _of_nan(name, _quiet(ref))
    calls = [
        call(*e.args, [0.3 * most, 0.9 * most], **e.kw, weights=w, method='inverted_cdf')
        for e, w in zip(
            _nan_calls(),
            (_weights(4, 5), _weights(4, 5), _weights(4, 5), _weights(3, 3)),
            strict=True,
        )
    ]
    return dataclasses.replace(row, calls=calls)


CASES = [
    _median('median', np.median),
    _median('nanmedian', np.nanmedian),
    _of_nan('median', _quiet(np.median)),
    _of_nan('nanmedian', _quiet(np.nanmedian)),
    *(
        case
        for most, kind in ((1.0, 'quantile'), (100.0, 'percentile'))
        for case in (
            _quantiles(kind, getattr(np, kind), most),
            _quantiles(f'nan{kind}', getattr(np, kind), most),
            _weighted(kind, getattr(np, kind), most),
            _weighted(f'nan{kind}', getattr(np, kind), most),
            _weighted_nan(kind, getattr(np, kind), most),
            _weighted_nan(f'nan{kind}', getattr(np, f'nan{kind}'), most),
            _of_nan(kind, _quantile(getattr(np, kind)), [0.3 * most, 0.5 * most]),
            _of_nan(f'nan{kind}', _quantile(getattr(np, f'nan{kind}')), [0.3 * most, 0.5 * most]),
        )
    ),
]
