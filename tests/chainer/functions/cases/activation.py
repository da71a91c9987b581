"""Rows of chainer.functions.activation."""

import numpy as np
import scipy.special
from functions.cases._table import Case, InvalidType, call, f, own


def float_unary(name, ref, cls, lo=-2.0, hi=2.0, avoid=(), **kw):
    """A function of each element of floats."""
    return Case(name, ref=ref, elastic=True, cls=f'activation.{cls}',
                **{'inputs': [f(3, 4, lo=lo, hi=hi, avoid=avoid)], **kw})  # fmt: skip


def along_axis(name, ref, cls, **kw):
    return Case(name, ref=ref, cls=f'activation.{name}.{cls}',
                calls=[call(f(3, 4, avoid=(0,)), axis=1), call(f(3, 4, avoid=(0,))),
                       call(f(3, 4, avoid=(0,)), axis=0),
                       call(f(2, 3, 4, avoid=(0,)), -1), call(f(0, 3))],
                attributes=[{'axis': 1}, {'axis': 1}, {'axis': 0}, {'axis': -1}],
                bad=[(call(f(3)), InvalidType, 'ndim'), (call(f()), InvalidType, 'ndim'),
                     (call(f(3, 4), axis=2), InvalidType, 'ndim'),
                     (call(f(3, 4), axis=-3), InvalidType, 'ndim')], **kw)  # fmt: skip


def maxout(x, pool_size, axis=1):
    axis %= x.ndim
    shape = (*x.shape[:axis], -1, pool_size, *x.shape[axis + 1 :])
    return x.reshape(shape).max(axis + 1)


def channels(w, x):
    return w.reshape((1, *w.shape, *(1,) * (x.ndim - 1 - w.ndim)))


def rectified(x, slope):
    return np.where(x >= 0, x, slope * x)


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def crelu(x, axis=1):
    return np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)], axis)


def swish(x, beta):
    return x * scipy.special.expit(channels(beta, x) * x)


def gelu(x, approximate='none'):
    if approximate == 'none':
        return x * scipy.special.ndtr(x)
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


_CHANNELS = [call(f(3, 4, avoid=(0,)), f(4)), call(f(2, 3, 4, avoid=(0,)), f(3, 4)),
             call(f(2, 3, 4, avoid=(0,)), f(3)), call(f(2, 3, avoid=(0,)), f()),
             call(f(0, 3), f(3))]  # fmt: skip
_BAD_CHANNELS = [(call(f(3, 4), f(3)), InvalidType, 'shape'),
                 (call(f(3, 4), f(3, 4)), InvalidType, 'ndim'),
                 (call(f(4), own('float16')), InvalidType, 'dtype', 'numpy')]  # fmt: skip
_SLOPES = np.linspace(0.1, 0.3, 12).reshape(3, 4)

CASES = [
    Case('relu', ref=lambda x: np.maximum(x, 0), inputs=[f(3, 4, avoid=(0,))], elastic=True,
         cls='activation.relu.ReLU'),
    float_unary('sigmoid', scipy.special.expit, 'sigmoid.Sigmoid'),
    float_unary('tanh', np.tanh, 'tanh.Tanh'),
    float_unary('leaky_relu', lambda x, slope=0.2: rectified(x, slope), 'leaky_relu.LeakyReLU',
                avoid=(0,), attributes={'slope': 0.2}),
    Case('leaky_relu', ref=rectified, calls=[call(f(3, 4, avoid=(0,)), -0.5)],
         cls='activation.leaky_relu.LeakyReLU', attributes={'slope': -0.5}),
    float_unary('elu', elu, 'elu.ELU', avoid=(0,), attributes={'alpha': 1.0}),
    Case('elu', ref=elu, calls=[call(f(3, 4, avoid=(0,)), alpha=2)],
         cls='activation.elu.ELU', attributes={'alpha': 2.0}),
    Case('selu', ref=lambda x: 1.0507009873554805 * elu(x, 1.6732632423543772),
         inputs=[f(3, 4, avoid=(0,))], cls='math.basic_math.MulConstant', direct=False,
         label='_ * 1.0507009873554805'),
    float_unary('softplus', lambda x: np.logaddexp(x, 0), 'softplus.Softplus',
                attributes={'beta': 1.0, 'beta_inv': 1.0}),
    Case('softplus', ref=lambda x, beta: np.logaddexp(x * beta, 0) / beta,
         calls=[call(f(3, 4), beta=2)], cls='activation.softplus.Softplus',
         attributes={'beta': 2.0, 'beta_inv': 0.5}),
    float_unary('silu', lambda x: x * scipy.special.expit(x), 'silu.SiLU', lo=-6, hi=6),
    float_unary('mish', lambda x: x * np.tanh(np.logaddexp(x, 0)), 'mish.Mish', lo=-6, hi=6),
    float_unary('gelu', gelu, 'gelu.GELU', lo=-4, hi=4, attributes={'approximate': 'none'},
                bad=[(call(f(3), 'erf'), ValueError, "approximate is 'erf'"),
                     (call(f(3), True), ValueError, 'approximate is True')]),
    Case('gelu', ref=gelu, calls=[call(f(3, 4, lo=-4, hi=4), approximate='tanh')],
         cls='activation.gelu.GELU', attributes={'approximate': 'tanh'}),
    float_unary('clipped_relu', lambda x, z=20.0: np.clip(x, 0, z), 'clipped_relu.ClippedReLU',
                lo=-4, hi=24, avoid=(0, 20), attributes={'cap': 20.0},
                bad=[(call(f(3), 2), TypeError, 'float')]),
    Case('relu6', ref=lambda x: np.clip(x, 0, 6), inputs=[f(3, 4, lo=-4, hi=9, avoid=(0, 6))],
         cls='activation.clipped_relu.ClippedReLU', attributes={'cap': 6.0}),
    float_unary('hard_sigmoid', lambda x: np.clip(0.2 * x + 0.5, 0, 1),
                'hard_sigmoid.HardSigmoid', lo=-4, hi=4, avoid=(-2.5, 2.5)),
    along_axis('softmax', lambda x, axis=1: scipy.special.softmax(x, axis),
               'Softmax'),
    along_axis('log_softmax', lambda x, axis=1: scipy.special.log_softmax(x, axis), 'LogSoftmax'),
    *(
        Case(name, ref=ref, cls=f'activation.{name}.{cls}', attributes={'axis': (0, -1)},
             calls=[call(f(2, 3, 4), axis=(0, -1))],
             bad=[(call(f(3, 4), axis=(0, 2)), InvalidType, 'x.ndim > 2'),
                  (call(f(3, 4), axis=(0, 0)), ValueError, 'duplicate')])
        for name, ref, cls in (('softmax', scipy.special.softmax, 'Softmax'),
                               ('log_softmax', scipy.special.log_softmax, 'LogSoftmax'))
    ),
    along_axis('crelu', crelu, 'CReLU'),
    Case('swish', ref=swish, calls=_CHANNELS, cls='activation.swish.Swish',
         bad=_BAD_CHANNELS),
    Case('prelu', ref=lambda x, w: rectified(x, channels(w, x)), calls=_CHANNELS,
         cls='activation.prelu.PReLUFunction', bad=_BAD_CHANNELS),
    Case('maxout', ref=maxout, cls='math.minmax.Max', direct=False,
         calls=[call(f(3, 4, distinct=True), 2), call(f(2, 6, 3, distinct=True), 3, axis=1),
                call(f(4, 3, distinct=True), 4, axis=-2)],
         bad=[(call(f(3, 4), 3), InvalidType, 'pool_size'), (call(f(3, 4), 0), ValueError, 'pool'),
              (call(f(3, 4), 2, axis=2), IndexError, '')]),
    Case('rrelu', ref=lambda x, r: rectified(x, r),
         calls=[call(f(3, 4, avoid=(0,)), r=f(3, 4, lo=0.1, hi=0.9)),
                call(f(2, 3, avoid=(0,)), r=f(2, 3))],
         params=(1,), cls='activation.rrelu.RReLU',
         attributes={'lower': 1 / 8, 'upper': 1 / 3},
         bad=[(call(f(3), r=f(4)), InvalidType, 'shape'),
              (call(f(3), 0.5, 0.25), ValueError, 'l is 0.5')]),
]  # fmt: skip
