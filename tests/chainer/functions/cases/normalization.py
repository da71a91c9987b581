"""Rows of chainer.functions.normalization."""

import numpy as np
from functions.cases._table import Case, InvalidType, call, f


def normalize(x, eps=1e-5, axis=1):
    return x / (np.sqrt((x * x).sum(axis, keepdims=True)) + eps)


CASES = [
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
