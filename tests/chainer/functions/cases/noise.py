"""Rows of chainer.functions.noise, with their random numbers given."""

import chainer
import chainer.functions
import numpy as np
import scipy.special
from functions.cases._table import Case, InvalidType, call, f, own


def seeded(function):
    """The function, with the same random numbers in each call."""

    def call(*args, **kw):
        np.random.seed(0)
        return function(*args, **kw)

    return call


def gumbel_softmax(x, tau, axis=1):
    return scipy.special.softmax((x + np.random.gumbel(size=x.shape)) / tau, axis)


CASES = [
    Case('dropout', ref=lambda x, ratio=0.5, mask=None: x * mask, params=(1,),
         calls=[call(f(3, 4), mask=f(3, 4)), call(f(3, 4), 0.25, mask=f(4)), call(f(), mask=f())],
         cls='noise.dropout.Dropout',
         attributes=[{'dropout_ratio': 0.5, 'return_mask': False}, {'dropout_ratio': 0.25}],
         bad=[(call(f(3), 1.0), ValueError, 'ratio is 1.0'),
              (call(f(3), -0.1), ValueError, 'ratio'),
              (call(f(3), train=False), ValueError, 'train'),
              (call(f(3), mask=f(2)), ValueError, 'shape')]),
    Case('gaussian', ref=lambda m, v, eps: m + np.exp(v / 2) * eps, params=(2,),
         calls=[call(f(3, 4), f(3, 4), eps=f(3, 4)), call(f(), f(), eps=f())],
         cls='noise.gaussian.Gaussian',
         bad=[(call(f(3), f(2)), InvalidType, 'shape'),
              (call(f(3), own('float16', 3)), InvalidType, 'dtype'),
              (call(f(3), f(3), eps=f(2)), InvalidType, 'eps')]),
    Case('gumbel_softmax', fn=seeded(chainer.functions.gumbel_softmax), ref=seeded(gumbel_softmax),
         calls=[call(f(3, 4), tau=0.5), call(f(3, 4), 0.5, 0)], tol=4, refuses=False,
         cls='activation.softmax.Softmax', direct=False,
         attributes=[{'axis': 1}, {'axis': 0}], bad=[(call(f(3)), InvalidType, 'ndim')]),
]  # fmt: skip
