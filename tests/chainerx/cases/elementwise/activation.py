"""Activations and normalised exponentials."""

import numpy as np
import scipy.special
from cases._table import BOOL, REAL, Case, call, f

INF, NAN = np.inf, np.nan
_x = f(2, 3, avoid=(0,))


def _activation(name, ref, sig, border=None, calls=(), errors=(), x=_x, **kw):
    return Case(
        name,
        ref,
        [x],
        list(calls),
        sig=sig,
        dtypes=REAL,
        maybe=BOOL,
        out='float',
        tol=4,
        border=border or {},
        errors=list(errors),
        **kw,
    )


def _crelu(x, axis=1):
    return np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)], axis)


def _gelu(x, approximate='none'):
    if approximate == 'tanh':
        with np.errstate(invalid='ignore'):
            y = x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    else:
        y = x * scipy.special.ndtr(x)
    return np.where(x < -30, 0, y)


def _with_axis(reference):
    def along(x, axis=None):
        return reference(x, 1 if axis is None else tuple(axis) if np.iterable(axis) else axis)

    return along


_GATED = {0.0: 0.0, INF: INF, -INF: -0.0, NAN: NAN, 3e38: 3e38, -3e38: -0.0}
_AXIS_CALLS = [
    call(f(2, 3), axis=0),
    call(f(2, 3), axis=-1),
    call(f(2, 3, 2)),
    call(f(2, 3, 2), axis=2),
    call(f(5), axis=0),
    call(f(0, 3)),
    call(f(3, 70)),
    call(f(2, 3), axis=None),
    call(f(2, 3, 2), axis=(1, 2)),
    call(f(2, 3, 2), axis=[2, 0]),
    call(f(2, 3, 2), axis=(-2,)),
    call(f(2, 3, 2, 3), axis=(0, 2)),
    call(f(2, 3), axis=()),
    call(f(), axis=()),
    call(f(2, 0, 3), axis=(0, 2)),
]
_AXIS_ERRORS = [
    (call(f(3)), 'DimensionError'),
    (call(f()), 'DimensionError'),
    (call(f(2, 3), axis=2), 'DimensionError', '2'),
    (call(f(2, 3), axis=-3), 'DimensionError', '-3'),
    (call(f(2, 3), axis=(0, 0)), 'DimensionError', '0'),
    (call(f(2, 3), axis=(0, 2)), 'DimensionError', '2'),
    (call(f(2, 3), axis='1'), 'TypeError'),
    (call(f(2, 3), axis=float('nan')), 'TypeError'),
]

CASES = [
    _activation(
        'relu',
        lambda x: np.maximum(x, 0),
        'x',
        {0.0: 0.0, -1.0: 0.0, INF: INF, -INF: 0.0, NAN: NAN},
        elastic=True,
    ),
    _activation(
        'sigmoid',
        scipy.special.expit,
        'x',
        {0.0: 0.5, INF: 1.0, -INF: 0.0, NAN: NAN, 1000.0: 1.0, -1000.0: 0.0},
        elastic=True,
    ),
    _activation(
        'elu',
        lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))),
        'x, alpha=1.0',
        {0.0: 0.0, INF: INF, -INF: -1.0, NAN: NAN},
        [call(_x, alpha=0.5), call(_x, 2.0)],
        elastic=True,
    ),
    _activation(
        'leaky_relu',
        lambda x, slope=0.2: np.where(x >= 0, x, slope * x),
        'x, slope=0.2',
        {0.0: 0.0, INF: INF, -INF: -INF, NAN: NAN},
        [call(_x, slope=0.5)],
        elastic=True,
    ),
    _activation(
        'clipped_relu',
        lambda x, z=20.0: np.clip(x, 0, z),
        'x, z=20.0',
        {0.0: 0.0, INF: 20.0, -INF: 0.0, 21.0: 20.0, NAN: NAN},
        [call(f(2, 3, lo=-4, hi=4, avoid=(0, 1)), z=1.0)],
        elastic=True,
    ),
    _activation(
        'softplus',
        lambda x, beta=1.0: np.logaddexp(0, beta * x) / beta,
        'x, beta=1.0',
        {0.0: np.log(2), INF: INF, -INF: 0.0, NAN: NAN, 1000.0: 1000.0},
        [call(_x, beta=2.0)],
        elastic=True,
    ),
    _activation(
        'silu',
        lambda x: np.where(x < -1000, -0.0, x * scipy.special.expit(np.maximum(x, -1000))),
        'x',
        _GATED,
        [call(f(3, 70, lo=-9, hi=9))],
        elastic=True,
    ),
    _activation(
        'mish',
        lambda x: np.where(x < -1000, -0.0, x * np.tanh(np.logaddexp(0, np.maximum(x, -1000)))),
        'x',
        _GATED,
        [call(f(3, 70, lo=-9, hi=9))],
        elastic=True,
    ),
    _activation(
        'gelu',
        _gelu,
        'x, approximate',
        {0.0: 0.0, INF: INF, -INF: 0.0, NAN: NAN, 1000.0: 1000.0, -1000.0: 0.0},
        [call(_x, 'tanh'), call(_x, approximate='none'), call(f(3, 70, lo=-6, hi=6), 'tanh')],
        [(call(_x, 'erf'), 'ValueError', "'erf'"), (call(_x, 1), 'TypeError', 'approximate')],
        elastic=True,
    ),
    Case(
        'prelu',
        lambda x, slope: np.where(x >= 0, x, slope * x),
        [_x, f(2, 3)],
        sig='x, slope',
        maybe=BOOL,
        out='float',
        elastic=True,
        tol=4,
    ),
    Case(
        'swish',
        lambda x, beta: x * scipy.special.expit(beta * x),
        [f(2, 3), f(2, 3)],
        sig='x, beta',
        maybe=BOOL,
        out='float',
        elastic=True,
        tol=8,
        border={(0.0, 1.0): 0.0, (INF, 1.0): INF, (NAN, 1.0): NAN},
    ),
    _activation(
        'crelu',
        _crelu,
        'x, axis=1',
        calls=[call(_x, axis=0), call(f(2, 3, 2, avoid=(0,)), axis=-1), call(f(0, 2))],
        errors=[(call(f(3)), 'DimensionError'), (call(_x, axis=2), 'DimensionError')],
    ),
    _activation(
        'softmax',
        _with_axis(scipy.special.softmax),
        'x, axis=None',
        calls=_AXIS_CALLS,
        errors=_AXIS_ERRORS,
        big=call(f(301, 403)),
        huge=False,
    ),
    _activation(
        'log_softmax',
        _with_axis(scipy.special.log_softmax),
        'x, axis=None',
        calls=_AXIS_CALLS,
        errors=_AXIS_ERRORS,
        big=call(f(301, 403)),
        huge=False,
    ),
]
