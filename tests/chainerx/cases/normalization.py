"""Normalizations. What they write in place is tested in test_normalization.py."""

import numpy as np

from cases._table import FLOATS, Case, call, f, own


def _channels(x, axis, *params):
    axis = (0,) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axis = tuple(a % x.ndim for a in axis)
    shape = tuple(1 if i in axis else n for i, n in enumerate(x.shape))
    return axis, *(p.reshape(shape) for p in params)


def _moments(x, axis):
    if x.size == 0:
        return x.sum(axis, keepdims=True), x.sum(axis, keepdims=True)
    return x.mean(axis, keepdims=True), x.var(axis, keepdims=True)


def _batch_norm(x, gamma, beta, running_mean, running_var, eps=2e-5, decay=0.9, axis=None):
    axis, gamma, beta = _channels(x, axis, gamma, beta)
    mean, var = _moments(x, axis)
    return (x - mean) / np.sqrt(var + eps) * gamma + beta


def _fixed_batch_norm(x, gamma, beta, mean, var, eps=2e-5, axis=None):
    _, gamma, beta, mean, var = _channels(x, axis, gamma, beta, mean, var)
    return (x - mean) / np.sqrt(var + eps) * gamma + beta


def _with(x, *params, **kw):
    """A call of batch_norm without running statistics."""
    return call(x, *params, None, None, **kw)


def _statistics(shape, *channels, **kw):
    """A call of fixed_batch_norm."""
    params = [f(*channels) for _ in range(3)]
    return call(f(*shape), *params, f(*channels, lo=0.3), **kw)


_EPS = (call(f(2, 3), f(3), f(3), None, None, -0.5), 'ValueError', 'eps is -0.5')

CASES = [
    Case(
        'batch_norm',
        _batch_norm,
        calls=[
            _with(f(4, 3), f(3), f(3)),
            _with(f(4, 3), f(1, 3), f(3), eps=0.5, axis=0),
            _with(f(2, 3, 2, 2), f(3), f(3), axis=(0, 2, 3)),
            _with(f(3, 2, 4, 5), f(2), f(1, 2, 1, 1), axis=(0, -2, -1)),
            _with(f(2, 4, 3), f(3), f(3), axis=(0, 1)),
            _with(f(2, 3, 2, 4), f(3, 4), f(3, 4), axis=(2, 0)),  # channels on both sides
            _with(f(3, 2, 2), f(2, 2), f(2, 2), eps=0.1),
            _with(f(2, 3), f(), f(), axis=(0, 1)),
            _with(f(2, 3), f(2, 3), f(2, 3), eps=1.0, axis=()),
            _with(f(4, 3), own('float64', 3), own('float16', 3)),
            _with(f(0, 3), f(3), f(3)),
            _with(f(2, 0), f(0), f(0)),
            _with(f(2, 3, 0), f(3), f(3), axis=(0, 2)),
            _with(f(2, 2, 20), f(2), f(2), eps=0.1, axis=(0, 2)),
        ],
        sig='x, gamma, beta, running_mean, running_var, eps=2e-5, decay=0.9, axis=None',
        dtypes=FLOATS,
        out='first',
        tol=8,
        gtol=4,
        big=_with(f(70, 12, 17, 16), f(12), f(12), axis=(0, 2, 3)),
        errors=[
            (_with(f(2, 3), f(2), f(3)), 'DimensionError', r'gamma.shape is \(2,\).*\(3,\)'),
            (_with(f(2, 3), f(3), f(1, 1)), 'DimensionError', r'beta.shape is \(1, 1\)'),
            (_with(f(2, 3), f(3), f(3), axis=2), 'DimensionError', 'axis 2 is out of range'),
            (_with(f(2, 3), f(3), f(3), axis=(0, -2)), 'DimensionError', 'duplicate axis'),
            (_with(f(), f(), f()), 'DimensionError', 'axis 0'),
            (_with(f(2, 3), own('int32', 3), f(3)), 'DtypeError', 'gamma has dtype int32'),
            (call(f(2, 3), f(3), f(3), f(2), f(3)), 'DimensionError', 'running_mean.shape is'),
            (call(f(2, 3), f(3), f(3), f(3), own('int64', 3)), 'DtypeError', 'running_var'),
            _EPS,
        ],
    ),
    Case(
        'fixed_batch_norm',
        _fixed_batch_norm,
        calls=[
            _statistics((4, 3), 3),
            _statistics((2, 3, 2, 2), 3, eps=0.1, axis=(0, 2, 3)),
            _statistics((2, 3, 2, 4), 3, 4, axis=(0, 2)),
            call(f(2, 3), f(1, 3), f(3), f(3), f(1, 3, lo=0.3)),
            call(f(2, 3), own('float64', 3), f(3), own('float16', 3), f(3, lo=0.3)),
            _statistics((0, 3), 3),
            _statistics((2, 0), 0),
            _statistics((2, 2, 20), 2, axis=(0, 2)),
        ],
        sig='x, gamma, beta, mean, var, eps=2e-5, axis=None',
        dtypes=FLOATS,
        out='first',
        tol=8,
        gtol=4,
        big=_statistics((70, 12, 17, 16), 12, axis=(0, 2, 3)),
        errors=[
            (_statistics((2, 3), 2), 'DimensionError', r'gamma.shape is \(2,\).*\(3,\)'),
            (_statistics((2, 3), 3, axis=2), 'DimensionError', 'axis 2 is out of range'),
            (_statistics((2, 3), 3, eps=-1.0), 'ValueError', 'eps is -1'),
        ],
    ),
]
