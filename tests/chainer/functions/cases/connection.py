"""Rows of chainer.functions.connection."""

import numpy as np
from functions.cases._table import Case, InvalidType, c, call, f, own


def linear(x, w, b=None, n_batch_axes=1):
    y = x.reshape(*x.shape[:n_batch_axes], w.shape[1]) @ w.T
    return y if b is None else y + b


def embed_id(ids, w, ignore_label=None):
    ignored = ids == ignore_label
    return np.where(np.expand_dims(ignored, -1), 0, w[np.where(ignored, 0, ids)])


_IDS = c([[0, 2], [1, 2]], 'int32')

CASES = [
    Case('linear', ref=linear, cls='connection.linear.LinearFunction',
         calls=[call(f(3, 4), f(2, 4), f(2)), call(f(3, 4), f(2, 4)), call(f(0, 4), f(2, 4), f(2)),
                call(f(3, 0), f(2, 0), f(2))],
         bad=[(call(f(3, 4), f(2, 3)), InvalidType, 'shape'),
              (call(f(3, 4), f(2, 4), f(3)), InvalidType, 'shape'),
              (call(f(3, 4), f(2, 4), f(2, 1)), InvalidType, 'ndim'),
              (call(f(3, 4), f(2, 4), own('float16', 2)), InvalidType, 'dtype'),
              (call(f(3, 4), f(2, 4), n_batch_axes=0), ValueError, 'n_batch_axes')]),
    Case('linear', ref=linear, cls='connection.linear.LinearFunction', direct=False,
         big=call(f(48, 8, 8), f(32, 64), f(32)),
         calls=[call(f(3, 2, 2), f(2, 4), f(2)), call(f(0, 2, 2), f(2, 4), f(2))]),
    Case('linear', ref=linear, cls='array.reshape.Reshape', direct=False,
         calls=[call(f(3, 2, 4), f(5, 4), f(5), n_batch_axes=2),
                call(f(3, 0, 2, 2), f(5, 4), n_batch_axes=2)]),
    Case('embed_id', ref=embed_id, cls='connection.embed_id.EmbedIDFunction',
         calls=[call(_IDS, f(3, 4)), call(_IDS, f(3, 4), 2), call(_IDS, f(3, 4), ignore_label=-1),
                call(c([-1, 0], 'int64'), f(3, 4)), call(c([3, -5, 0], 'int8'), f(4, 2), -5),
                call(own('int32', 0), f(3, 4))],
         attributes=[{'ignore_label': None}, {'ignore_label': 2}],
         big=call(own('int32', 5000, lo=0, hi=2), f(3, 4)),
         bad=[(call(c([3], 'int32'), f(3, 4)), IndexError, '3'),
              (call(own('uint8', 3), f(3, 4)), InvalidType, 'kind'),
              (call(own('int32'), f(3, 4)), InvalidType, 'ndim'),
              (call(_IDS, f(3)), InvalidType, 'ndim')]),
]  # fmt: skip
