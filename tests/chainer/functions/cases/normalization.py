"""Rows of chainer.functions.normalization."""

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
              (call(f(2, 3), f(3), own('float64', 3)), InvalidType, 'dtype'),
              (call(f(2, 3), own('int32', 3), own('int32', 3)), InvalidType, 'kind'),
              (call(f(3), f(3), f(3)), InvalidType, 'ndim'),
              (call(f(), f(), f()), InvalidType, 'ndim'),
              (call(f(2, 3), f(3), f(3), axis=(0, 2)), InvalidType, 'ndim'),
              (call(f(4, 3), f(3), f(3), axis=1), InvalidType, 'shape'),  # passed with axis 0
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
              (call(f(2, 3), f(3), f(3), f(3), own('float64', 3)), InvalidType, 'dtype'),
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
]  # fmt: skip
