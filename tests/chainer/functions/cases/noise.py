"""Rows of chainer.functions.noise, with their random numbers given."""

import chainer
import chainer.functions
import numpy as np
import scipy.special
from functions.cases._table import Case, InvalidType, b, call, f, own


def seeded(function):
    """The function with the same random numbers in each call."""

    def call(*args, **kw):
        np.random.seed(0)
        return function(*args, **kw)

    return call


def gumbel_softmax(x, tau, axis=1):
    return scipy.special.softmax((x + np.random.gumbel(size=x.shape)) / tau, axis)


def zoneout(h, x, ratio=0.5):
    import chainerx
    from chainerx._core import engine  # not in v7, which reads this table, too

    numbers = chainerx.random.uniform(0, 1, h.shape, 'float32', 'native', engine.draw_key())
    return np.where(chainerx.to_numpy(numbers) < ratio, h, x)


def dropconnect(x, w, b=None, ratio=0.5, train=True, mask=None, use_batchwise_mask=True):
    y = np.einsum('noi,ni->no' if use_batchwise_mask else 'oi,ni->no', mask * w,
                  x.reshape(len(x), w.shape[1])) / (1 - ratio if train else 1)  # fmt: skip
    return y if b is None else y + b


CASES = [
    Case('dropout', ref=lambda x, ratio=0.5, mask=None: x * mask, params=(1,),
         calls=[call(f(3, 4), mask=f(3, 4)), call(f(3, 4), 0.25, mask=f(4)), call(f(), mask=f())],
         cls='noise.dropout.Dropout',
         attributes=[{'dropout_ratio': 0.5, 'return_mask': False}, {'dropout_ratio': 0.25}],
         bad=[(call(f(3), 1.0), ValueError, 'ratio is 1.0'),
              (call(f(3), '0.5'), TypeError, "ratio is '0.5'"),
              (call(f(3), -0.1), ValueError, 'ratio'),
              (call(f(3), train=False), ValueError, 'train'),
              (call(f(3), mask=f(2)), ValueError, 'shape')]),
    Case('gaussian', ref=lambda m, v, eps: m + np.exp(v / 2) * eps, params=(2,),
         calls=[call(f(3, 4), f(3, 4), eps=f(3, 4)), call(f(), f(), eps=f())],
         cls='noise.gaussian.Gaussian',
         bad=[(call(f(3), f(2)), InvalidType, 'shape'),
              (call(f(3), own('float16', 3)), InvalidType, 'dtype', 'numpy'),
              (call(f(3), f(3), eps=f(2)), InvalidType, 'eps')]),
    Case('gumbel_softmax', fn=seeded(chainer.functions.gumbel_softmax), ref=seeded(gumbel_softmax),
         calls=[call(f(3, 4), tau=0.5), call(f(3, 4), 0.5, 0)], tol=4, refuses=False,
         cls='activation.softmax.Softmax', direct=False,
         attributes=[{'axis': 1}, {'axis': 0}], bad=[(call(f(3)), InvalidType, 'ndim')]),
    Case('zoneout', fn=seeded(chainer.functions.zoneout), ref=seeded(zoneout),
         calls=[call(f(3, 4), f(3, 4)), call(f(3, 4), f(3, 4), 0.25), call(f(3, 4), f(3, 4), 0),
                call(f(), f(), 1)],
         cls='noise.zoneout.Zoneout',
         attributes=[{'zoneout_ratio': 0.5}, {'zoneout_ratio': 0.25}],
         bad=[(call(f(3), f(2)), InvalidType, 'shape'),
              (call(f(3), own('float16', 3)), InvalidType, 'dtype', 'numpy'),
              (call(f(3), f(3), 1.1), ValueError, 'ratio is 1.1'),
              (call(f(3), f(3), train=False), ValueError, 'train'),
              (call(f(3), f(3), foo=1), TypeError, 'foo')]),
    Case('simplified_dropconnect', ref=dropconnect, params=(2,), tol=4, gtol=4,
         cls='noise.simplified_dropconnect.SimplifiedDropconnect',
         calls=[call(f(3, 4), f(2, 4), mask=b(3, 2, 4)),
                call(f(3, 2, 2), f(2, 4), None, 0.25, mask=f(3, 2, 4)),
                call(f(3, 4), f(2, 4), mask=b(2, 4), use_batchwise_mask=False),
                call(f(3, 4), f(2, 4), train=False, mask=b(3, 2, 4)),
                call(f(0, 4), f(2, 4), mask=b(0, 2, 4))],
         attributes=[{'ratio': 0.5, 'use_batchwise_mask': True}, {'ratio': 0.25},
                     {'use_batchwise_mask': False}, {'ratio': 0}],
         bad=[(call(f(3, 4), f(2, 3)), InvalidType, 'shape'),
              (call(f(4), f(2, 4)), InvalidType, 'ndim'),
              (call(f(3, 4), f(2, 4, 1)), InvalidType, 'ndim'),
              (call(f(3, 4), own('int32', 2, 4)), InvalidType, 'dtype'),
              (call(f(3, 4), f(2, 4), mask=b(2, 4)), InvalidType, 'mask'),
              (call(f(3, 4), f(2, 4), mask=b(3, 2, 4), use_batchwise_mask=False), InvalidType,
               'mask'),
              (call(f(3, 4), f(2, 4), ratio=1.0), ValueError, 'ratio is 1.0')]),
    Case('simplified_dropconnect', ref=dropconnect, params=(3,), tol=4, gtol=4,
         cls='noise.simplified_dropconnect.SimplifiedDropconnect',
         calls=[call(f(3, 4), f(2, 4), f(2), mask=b(3, 2, 4)),
                call(f(3, 4), f(2, 4), f(2), 0.25, mask=b(2, 4), use_batchwise_mask=False)],
         bad=[(call(f(3, 4), f(2, 4), f(3)), InvalidType, 'shape'),
              (call(f(3, 4), f(2, 4), f(2, 1)), InvalidType, 'ndim'),
              (call(f(3, 4), f(2, 4), own('float16', 2)), InvalidType, 'dtype', 'numpy')]),
]  # fmt: skip
