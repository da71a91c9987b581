"""Normalizations. test_normalization.py tests their writes in place."""

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


def _row_axes(x, axis, ndim):
    if axis is None:
        return tuple(range(x.ndim - ndim, x.ndim))
    return tuple(sorted(a % x.ndim for a in (axis if isinstance(axis, tuple) else (axis,))))


def _along(x, axis, param):
    return param.reshape([n if i in axis else 1 for i, n in enumerate(x.shape)])


def _layer_norm(x, gamma, beta, eps=1e-5, axis=None):
    axis = _row_axes(x, axis, gamma.ndim)
    mean, var = _moments(x, axis)
    return (x - mean) / np.sqrt(var + eps) * _along(x, axis, gamma) + _along(x, axis, beta)


def _rms_norm(x, gamma=None, eps=1e-6, axis=None):
    axis = _row_axes(x, axis, 1 if gamma is None else gamma.ndim)
    square = _moments(x * x, axis)[0]
    return x / np.sqrt(square + eps) * (1 if gamma is None else _along(x, axis, gamma))


def _group_norm(x, groups, gamma, beta, eps=1e-5):
    rows = x.reshape(x.shape[0], groups, -1 if x.size else 0)
    mean, var = _moments(rows, 2)
    y = ((rows - mean) / np.sqrt(var + eps)).reshape(x.shape)
    return y * _along(x, (1,), gamma) + _along(x, (1,), beta)


def _instance_norm(x, gamma=None, beta=None, eps=1e-5):
    axis = tuple(range(2, x.ndim))
    mean, var = _moments(x, axis) if axis else (x, 0 * x)
    y = (x - mean) / np.sqrt(var + eps)
    y = y if gamma is None else y * _along(x, (1,), gamma)
    return y if beta is None else y + _along(x, (1,), beta)


def _local_response_normalization(x, n=5, k=2, alpha=1e-4, beta=0.75):
    reach = n // 2
    total = (
        np.stack(
            [(x[:, max(0, i - reach) : i + reach + 1] ** 2).sum(1) for i in range(x.shape[1])], 1
        )
        if x.shape[1]
        else x
    )
    return x / (k + alpha * total) ** beta


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
    Case(
        'layer_norm',
        _layer_norm,
        calls=[
            call(f(4, 5), f(5), f(5), eps=0.1),
            call(f(2, 3, 4), f(4), f(4), 0.1),
            call(f(2, 3, 4), f(3, 4), f(3, 4), axis=(1, 2)),
            call(f(2, 3, 4), f(2, 4), f(2, 4), axis=(2, 0)),
            call(f(3, 2), f(3), f(3), eps=0.1, axis=0),
            call(f(6), f(6), f(6)),
            call(f(3, 5), own('float64', 5), own('float16', 5), 0.1),
            call(f(0, 3), f(3), f(3)),
            call(f(3, 0), f(0), f(0)),
            call(f(2), f(), f(), eps=0.5, axis=()),
            call(f(2, 37), f(37), f(37), eps=0.1),
        ],
        sig='x, gamma, beta, eps=1e-5, axis=None',
        dtypes=FLOATS,
        out='first',
        tol=8,
        gtol=4,
        big=call(f(301, 133), f(133), f(133)),
        errors=[
            (call(f(2, 3), f(2), f(3)), 'DimensionError', r'gamma.shape is \(2,\).*\(3,\)'),
            (call(f(2, 3), f(3), f(1, 3)), 'DimensionError', r'beta.shape is \(1, 3\)'),
            (call(f(3), f(2, 3), f(2, 3)), 'DimensionError', 'gamma.ndim is 2, but x.ndim is 1'),
            (call(f(2, 3), f(3), f(3), axis=2), 'DimensionError', 'axis 2 is out of range'),
            (call(f(2, 3), f(3), f(3), axis=(1, 1)), 'DimensionError', 'duplicate axis'),
            (call(f(2, 3), f(3), f(3), -1.0), 'ValueError', 'eps is -1'),
            (call(f(2, 3), f(3), own('int32', 3)), 'DtypeError', 'beta has dtype int32'),
        ],
    ),
    Case(
        'rms_norm',
        _rms_norm,
        calls=[
            call(f(4, 5), f(5)),
            call(f(2, 3, 4), f(3, 4), eps=0.5),
            call(f(2, 3, 4)),
            call(f(2, 3, 4), f(3), axis=1),
            call(f(2, 3, 4), axis=(0, 2)),
            call(f(3, 0)),
            call(f(0, 3), f(3)),
            call(f(2, 20), own('float64', 20)),
        ],
        sig='x, gamma=None, eps=1e-6, axis=None',
        dtypes=FLOATS,
        out='first',
        tol=8,
        gtol=4,
        big=call(f(301, 133), f(133)),
        errors=[
            (call(f(2, 3), f(2)), 'DimensionError', r'gamma.shape is \(2,\)'),
            (call(f()), 'DimensionError', '^rms_norm: x.ndim is 0, expected at least 1'),
            (call(f(2, 3), eps=float('nan')), 'ValueError', 'eps is nan'),
        ],
    ),
    Case(
        'group_norm',
        _group_norm,
        calls=[
            call(f(2, 6, 3), 2, f(6), f(6), eps=0.1),
            call(f(3, 4, 2, 2), 1, f(4), f(4)),
            call(f(3, 4, 3, 2), 4, f(4), f(4), 0.1),
            call(f(3, 6), 2, f(6), f(6), 0.1),
            call(f(1, 4, 17), 2, f(4), own('float64', 4)),
            call(f(0, 4, 2), 2, f(4), f(4)),
            call(f(2, 4, 0), 2, f(4), f(4)),
            call(f(2, 0, 3), 3, f(0), f(0)),
        ],
        sig='x, groups, gamma, beta, eps=1e-5',
        dtypes=FLOATS,
        out='first',
        tol=8,
        gtol=4,
        big=call(f(20, 12, 17, 13), 4, f(12), f(12)),
        errors=[
            (call(f(2, 6, 3), 4, f(6), f(6)), 'ValueError', r'groups is 4.*x.shape\[1\], 6'),
            (call(f(2, 6, 3), 0, f(6), f(6)), 'ValueError', 'groups is 0'),
            (call(f(6), 2, f(6), f(6)), 'DimensionError', 'x.ndim is 1'),
            (call(f(2, 6), 2, f(3), f(6)), 'DimensionError', r'gamma.shape is \(3,\)'),
            (call(f(2, 6), 2, f(6), f(6), -1.0), 'ValueError', 'eps is -1'),
        ],
    ),
    Case(
        'instance_norm',
        _instance_norm,
        calls=[
            call(f(2, 3, 4), f(3), f(3), 0.1),
            call(f(2, 3, 2, 3)),
            call(f(2, 3, 4), None, f(3)),
            call(f(2, 3, 4), f(3), eps=0.1),
            call(f(2, 3)),
            call(f(2, 2, 19), f(2), f(2)),
            call(f(0, 3, 2)),
            call(f(2, 0, 2)),
        ],
        sig='x, gamma=None, beta=None, eps=1e-5',
        dtypes=FLOATS,
        out='first',
        tol=8,
        gtol=4,
        big=call(f(20, 12, 17, 13), f(12), f(12)),
        errors=[
            (call(f(2)), 'DimensionError', 'x.ndim is 1'),
            (call(f(2, 3), f(2)), 'DimensionError', r'gamma.shape is \(2,\)'),
            (call(f(2, 3), f(3), f(2)), 'DimensionError', r'beta.shape is \(2,\)'),
        ],
    ),
    Case(
        'local_response_normalization',
        _local_response_normalization,
        calls=[
            call(f(2, 7, 3)),
            call(f(2, 7, 3), 3, 0.5, 0.3, 1.5),
            call(f(2, 5, 2, 2), n=4, alpha=0.5, beta=-1.0),
            call(f(2, 3), 99, 1.0, 1.0, 0.5),
            call(f(2, 3), n=0, alpha=1.0),
            call(f(0, 3, 2)),
            call(f(2, 0, 2)),
        ],
        sig='x, n=5, k=2, alpha=1e-4, beta=0.75',
        dtypes=FLOATS,
        tol=8,
        gtol=4,
        big=call(f(20, 12, 17, 13)),
        errors=[
            (call(f(3)), 'DimensionError', 'x.ndim is 1'),
            (call(f(2, 3), -1), 'ValueError', 'n is -1'),
        ],
    ),
]
