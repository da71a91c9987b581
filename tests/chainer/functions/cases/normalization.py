"""Rows of chainer.functions.normalization."""

import chainer
import chainer.functions as F
import numpy as np
from functions.cases._table import Case, InvalidType, call, f, own


def normalize(x, eps=1e-5, axis=1):
    return x / (np.sqrt((x * x).sum(axis, keepdims=True)) + eps)


def _channels(x, gamma, axis, *params):
    axis = (axis,) if isinstance(axis, int) else axis
    axis = (0, *range(gamma.ndim + 1, x.ndim)) if axis is None else axis
    shape = tuple(1 if i in axis else n for i, n in enumerate(x.shape))
    return axis, *(p.reshape(shape) for p in (gamma, *params))


def batch_normalization(x, gamma, beta, *, eps=2e-5, decay=0.9, axis=None):
    axis, gamma, beta = _channels(x, gamma, axis, beta)
    if x.size == 0:
        return x
    return (
        gamma * (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps) + beta
    )


def fixed_batch_normalization(x, gamma, beta, mean, var, eps=2e-5, axis=None):
    _, gamma, beta, mean, var = _channels(x, gamma, axis, beta, mean, var)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


def _fixed(x, *shape, **kw):
    params = [f(*shape) for _ in range(3)]
    return call(f(*x), *params, f(*shape, lo=0.3), **kw)


def group_normalization(x, groups, gamma, beta, eps=1e-5):
    if x.size == 0:
        return x
    rows = x.reshape(len(x), groups, -1)
    u = (rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + eps)
    shape = (1, -1, *[1] * (x.ndim - 2))
    return u.reshape(x.shape) * gamma.reshape(shape) + beta.reshape(shape)


def layer_normalization(x, gamma, beta, eps=1e-5):
    return group_normalization(x, 1, gamma, beta, eps)


def rms_norm(x, gamma=None, eps=1e-6):
    axis = tuple(range(x.ndim - (1 if gamma is None else gamma.ndim), x.ndim))
    y = x / np.sqrt((x * x).mean(axis, keepdims=True) + eps) if x.size else x
    return y if gamma is None else y * gamma


def local_response_normalization(x, n=5, k=2, alpha=1e-4, beta=0.75):
    reach = n // 2
    windows = [x[:, max(0, i - reach) : i + reach + 1] for i in range(x.shape[1])]
    return x / (k + alpha * np.stack([(w * w).sum(1) for w in windows], 1)) ** beta


def _renormalize(x, gamma, beta, rmax=1.5, dmax=0.25, eps=2e-5):
    device = chainer.backend.get_device_from_array(gamma)
    mean, var = (device.send(np.full(gamma.shape, v)) for v in (0.25, 0.5))
    return F.batch_renormalization(x, gamma, beta, rmax, dmax, eps, mean, var)


def _renormalized(x, gamma, beta, rmax=1.5, dmax=0.25, eps=2e-5):
    axis, gamma, beta = _channels(x, gamma, None, beta)
    mean, std = x.mean(axis, keepdims=True), np.sqrt(x.var(axis, keepdims=True) + eps)
    r = np.clip(std / np.sqrt(0.5 + eps), 1 / rmax, rmax)
    d = np.clip((mean - 0.25) / np.sqrt(0.5 + eps), -dmax, dmax)
    return gamma * ((x - mean) / std * r + d) + beta


def _to_groups(x, groups):
    return np.moveaxis(x, 1, 0).reshape(groups, x.shape[1] // groups, -1)


def _from_groups(y, x):
    return np.moveaxis(y.reshape(x.shape[1], x.shape[0], *x.shape[2:]), 0, 1)


def decorrelated(x, *, groups=16, eps=2e-5, decay=0.9):
    if x.size == 0:
        return x
    z = _to_groups(x, groups)
    z = z - z.mean(2, keepdims=True)
    w, v = np.linalg.eigh(z @ z.transpose(0, 2, 1) / z.shape[2] + eps * np.eye(z.shape[1]))
    return _from_groups((v * w[:, None] ** -0.5) @ v.transpose(0, 2, 1) @ z, x)


def fixed_decorrelated(x, mean, projection, groups=16):
    return _from_groups(projection @ (_to_groups(x, groups) - mean[:, :, None]), x)


_NORMALIZATION = 'normalization.batch_normalization'

CASES = [
    Case('batch_normalization', ref=batch_normalization, tol=8, gtol=4,
         cls=f'{_NORMALIZATION}.BatchNormalization',
         calls=[call(f(4, 3), f(3), f(3)), call(f(2, 3, 2, 2), f(3), f(3), eps=0.1),
                call(f(3, 2, 4), f(2, 4), f(2, 4)), call(f(2, 3, 2), f(2), f(2), axis=(0, 1)),
                call(f(3, 2), f(2), f(2), axis=0, decay=0.5), call(f(0, 2), f(2), f(2)),
                call(f(2, 2), f(), f())],
         attributes=[{'eps': 2e-5, 'decay': 0.9, 'axis': (0,), 'key_axis': (1,),
                      'expander': (None, slice(None)), 'running_mean': None, 'running_var': None},
                     {'eps': 0.1, 'axis': (0, 2, 3)}, {'axis': (0,), 'key_axis': (1, 2)},
                     {'axis': (0, 1)}],
         bad=[(call(f(2, 3), f(2), f(2)), InvalidType, r'x.shape\[1\]'),
              (call(f(2, 3), f(3), f(2)), InvalidType, r'shape'),
              (call(f(2, 3), f(3), own('float64', 3)), InvalidType, 'dtype', 'numpy'),
              (call(f(2, 3), own('int32', 3), own('int32', 3)), InvalidType, 'kind'),
              (call(f(3), f(3), f(3)), InvalidType, 'ndim'),
              (call(f(), f(), f()), InvalidType, 'ndim'),
              (call(f(2, 3), f(3), f(3), axis=(0, 2)), InvalidType, 'ndim'),
              (call(f(4, 3), f(3), f(3), axis=1), InvalidType, 'shape'),  # passes for axis 0
              (call(f(2, 3), f(3), f(3), axis=[0]), RuntimeError, 'axis'),
              (call(f(2, 3, 4), f(3), f(3), axis=(2, 0)), RuntimeError, 'ascending'),
              (call(f(2, 3, 4), f(3), f(3), axis=(0, -1)), RuntimeError, 'ascending'),
              (call(f(2, 3), f(3), f(3), eps=-1.0), ValueError, 'eps'),
              (call(f(2, 3), f(3), f(3), train=True), ValueError, 'using_config'),
              (call(f(2, 3), f(3), f(3), test=True), TypeError, 'test')]),
    Case('batch_normalization', ref=batch_normalization, tol=8, gtol=4, diff=(0,),
         cls=f'{_NORMALIZATION}.BatchNormalization',
         calls=[call(f(4, 3), own('float32', 3), own('float32', 3))]),
    Case('fixed_batch_normalization', ref=fixed_batch_normalization, tol=8, gtol=4,
         cls=f'{_NORMALIZATION}.FixedBatchNormalization',
         calls=[_fixed((4, 3), 3), _fixed((2, 3, 2, 2), 3, eps=0.1),
                _fixed((2, 3, 2), 2, axis=(0, 1)), _fixed((0, 2), 2)],
         attributes=[{'eps': 2e-5, 'axis': (0,), 'key_axis': (1,)},
                     {'eps': 0.1, 'axis': (0, 2, 3)}],
         bad=[(call(f(2, 3), f(3), f(3), f(2), f(3)), InvalidType, 'shape'),
              (call(f(2, 3), f(3), f(3), f(3), own('float64', 3)), InvalidType, 'dtype', 'numpy'),
              (_fixed((4, 3), 3, axis=1), InvalidType, 'shape'),
              (_fixed((4, 3), 3, axis=(1, 0)), RuntimeError, 'ascending')]),
    Case('normalize', ref=normalize, cls='normalization.l2_normalization.NormalizeL2', tol=4,
         calls=[call(f(3, 4)), call(f(2, 3, 4), 0.5, (0, -1)), call(f(3), axis=0),
                call(f(2, 3), axis=None), call(f(2, 0)), call(f(0, 2)),
                call(f(3, lo=0.5), axis=())],
         attributes=[{'eps': 1e-5, 'axis': (1,)}, {'eps': 0.5, 'axis': (0, -1)}, {'axis': (0,)},
                     {'axis': None}],
         bad=[(call(f(3)), InvalidType, 'ndim'), (call(f(3), axis=-2), InvalidType, 'ndim'),
              (call(f(2, 3), axis=(1, 1)), ValueError, 'twice'),
              (call(f(2, 3), axis=[0]), TypeError, 'axis')]),
    Case('group_normalization', ref=group_normalization, tol=8, gtol=4,
         cls='normalization.group_normalization.GroupNormalization',
         calls=[call(f(2, 6, 5), 2, f(6), f(6)), call(f(3, 4, 2, 3), 4, f(4), f(4), 0.1),
                call(f(3, 6), 2, f(6), f(6), eps=0.1), call(f(0, 4, 2), 2, f(4), f(4))],
         attributes=[{'groups': 2, 'eps': 1e-5}, {'groups': 4, 'eps': 0.1}],
         bad=[(call(f(2, 6), 4, f(6), f(6)), ValueError, 'groups is 4'),
              (call(f(2, 6), 0, f(6), f(6)), ValueError, 'groups is 0'),
              (call(f(2, 6), 2.0, f(6), f(6)), TypeError, 'groups'),
              (call(f(2, 6), 2, f(5), f(5)), InvalidType, 'shape'),
              (call(f(2, 6), 2, f(6), f(5)), InvalidType, 'shape'),
              (call(f(2, 6), 2, f(6), own('float64', 6)), InvalidType, 'dtype', 'numpy'),
              (call(f(6), 2, f(6), f(6)), InvalidType, 'ndim')]),
    Case('layer_normalization', ref=layer_normalization, tol=8, gtol=4,
         cls='normalization.layer_normalization.LayerNormalization',
         calls=[call(f(4, 5), f(5), f(5)), call(f(3, 20), f(20), f(20), 0.1),
                call(f(0, 3), f(3), f(3))],
         attributes=[{'eps': 1e-5}, {'eps': 0.1}],
         bad=[(call(f(2, 3), f(2), f(2)), InvalidType, 'shape'),
              (call(f(2, 3), f(3), own('float64', 3)), InvalidType, 'dtype', 'numpy'),
              (call(f(2, 3, 4), f(4), f(4)), InvalidType, 'ndim'),
              (call(f(2, 3), f(3), f(3), -1.0), ValueError, 'eps is -1')]),
    Case('rms_norm', ref=rms_norm, tol=8, gtol=4, cls='normalization.rms_norm.RMSNorm',
         calls=[call(f(4, 5), f(5)), call(f(2, 3, 4), f(3, 4), eps=0.1), call(f(2, 3, 4)),
                call(f(6)), call(f(0, 3), f(3)), call(f(3, 0))],
         attributes=[{'eps': 1e-6}, {'eps': 0.1}],
         bad=[(call(f(2, 3), f(2)), InvalidType, 'shape'),
              (call(f(3), f(2, 3)), InvalidType, 'ndim'),
              (call(f()), InvalidType, 'ndim'), (call(f(2), f()), InvalidType, 'ndim'),
              (call(f(2, 3), own('float64', 3)), InvalidType, 'dtype', 'numpy'),
              (call(f(2, 3), f(3), -1.0), ValueError, 'eps is -1')]),
    Case('local_response_normalization', ref=local_response_normalization, tol=8, gtol=4,
         cls='normalization.local_response_normalization.LocalResponseNormalization',
         calls=[call(f(2, 7, 3)), call(f(2, 5, 2, 2), 4, 0.5, 0.3, 1.5), call(f(2, 3), n=0),
                call(f(0, 3, 2))],
         attributes=[{'n': 5, 'k': 2, 'alpha': 1e-4, 'beta': 0.75}, {'n': 4, 'beta': 1.5}],
         bad=[(call(f(3)), InvalidType, 'ndim'), (call(f(2, 3), n=-1), ValueError, 'n is -1'),
              (call(f(2, 3), n=3.0), TypeError, 'n')]),
    # Within such bounds there is no correction, which gradients treat as constant.
    Case('batch_renormalization', fn=_renormalize, ref=_renormalized, tol=8, gtol=4,
         cls='normalization.batch_renormalization.BatchRenormalizationFunction', direct=False,
         calls=[call(f(5, 3), f(3), f(3), 1.0, 0.0)]),
    Case('batch_renormalization', fn=_renormalize, ref=_renormalized, tol=8, gtol=4, order=0,
         cls='normalization.batch_renormalization.BatchRenormalizationFunction', direct=False,
         calls=[call(f(5, 3), f(3), f(3)), call(f(4, 3, 2, 2), f(3), f(3), 2.0, 1.0, 0.1)],
         attributes=[{'rmax': 1.5, 'dmax': 0.25, 'eps': 2e-5, 'update_statistics': False}]),
    Case('fixed_batch_renormalization', ref=fixed_batch_normalization, tol=8, gtol=4,
         cls=f'{_NORMALIZATION}.FixedBatchNormalization',
         calls=[_fixed((4, 3), 3), _fixed((2, 3, 2, 2), 3, eps=0.1)],
         bad=[(call(f(2, 3), f(3), f(3), f(2), f(3)), InvalidType, 'shape'),
              (_fixed((4, 3), 3, eps=-1.0), ValueError, 'eps')]),
    Case('decorrelated_batch_normalization', ref=decorrelated, tol=30, gtol=30,
         cls='normalization.decorrelated_batch_normalization.DecorrelatedBatchNormalization',
         calls=[call(f(9, 4), groups=2, eps=0.1), call(f(5, 4, 2, 3), groups=1, eps=0.5),
                call(f(0, 4), groups=2), call(f(9, 3), groups=3)],
         attributes=[{'groups': 2, 'eps': 0.1, 'decay': 0.9, 'running_mean': None}, {'groups': 1}],
         bad=[(call(f(9, 4)), InvalidType, '16'), (call(f(9, 4), groups=3), InvalidType, '3'),
              (call(f(9), groups=1), InvalidType, 'ndim'),
              (call(f(9, 4), groups=0), ValueError, 'groups is 0'),
              (call(f(9, 4), groups=2, axis=1), TypeError, 'axis')]),
    Case('fixed_decorrelated_batch_normalization', ref=fixed_decorrelated, tol=8, gtol=4,
         cls='normalization.decorrelated_batch_normalization.FixedDecorrelatedBatchNormalization',
         calls=[call(f(4, 6), f(3, 2), f(3, 2, 2), 3),
                call(f(2, 4, 3), f(1, 4), f(1, 4, 4), groups=1)],
         big=call(f(640, 12), f(3, 4), f(3, 4, 4), 3),
         attributes=[{'groups': 3}],
         bad=[(call(f(4, 6), f(3, 2), f(3, 2, 2), 4), InvalidType, '4'),
              (call(f(4, 6), f(3, 2), f(3, 2, 2), 2), InvalidType, 'shape'),
              (call(f(4, 6), f(3, 2), f(3, 2, 1), 3), InvalidType, 'shape')]),
]  # fmt: skip
