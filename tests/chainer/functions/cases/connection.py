"""Rows of chainer.functions.connection."""

import numpy as np
from functions.cases._table import Case, InvalidType, c, call, f, own


def linear(x, w, b=None, n_batch_axes=1):
    y = x.reshape(*x.shape[:n_batch_axes], w.shape[1]) @ w.T
    return y if b is None else y + b


def embed_id(ids, w, ignore_label=None):
    ignored = ids == ignore_label
    return np.where(np.expand_dims(ignored, -1), 0, w[np.where(ignored, 0, ids)])


def bilinear(e1, e2, w, V1=None, V2=None, b=None):
    e1, e2 = e1.reshape(len(e1), w.shape[0]), e2.reshape(len(e2), w.shape[1])
    y = np.einsum('nj,nk,jkl->nl', e1, e2, w)
    return y if b is None else y + e1 @ V1 + e2 @ V2 + b


def shift(x, ksize=3, dilate=1):
    kh, kw = (ksize, ksize) if isinstance(ksize, int) else ksize
    dy, dx = (dilate, dilate) if isinstance(dilate, int) else dilate
    places = [(i, j) for i in range(kh) for j in range(kw)]
    places[kh * kw // 2], places[-1] = places[-1], places[kh * kw // 2]
    size, (h, w) = x.shape[1] // (kh * kw), x.shape[2:]
    y = x.copy()
    for n, (i, j) in enumerate(places):
        i, j = (i - kh // 2) * dy, (j - kw // 2) * dx
        moved = np.zeros_like(x[:, :size])
        for row in range(max(0, i), min(h, h + i)):
            for column in range(max(0, j), min(w, w + j)):
                moved[:, :, row, column] = x[:, n * size : (n + 1) * size, row - i, column - j]
        y[:, n * size : (n + 1) * size] = moved
    return y


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
         bad=[(call(c([3], 'int32'), f(3, 4)), IndexError, '^embed_id: x has 3, W has 3 rows'),
              (call(own('uint8', 3), f(3, 4)), InvalidType, 'kind'),
              (call(own('int32'), f(3, 4)), InvalidType, 'ndim'),
              (call(_IDS, f(3)), InvalidType, 'ndim')]),
    Case('bilinear', ref=bilinear, cls='connection.bilinear.BilinearFunction', tol=8, gtol=4,
         calls=[call(f(2, 3), f(2, 4), f(3, 4, 5)), call(f(2, 3, 2), f(2, 2, 2), f(6, 4, 5)),
                call(f(0, 3), f(0, 4), f(3, 4, 5))],
         bad=[(call(f(2, 3), f(3, 4), f(3, 4, 5)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 4), f(3, 3, 5)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 4), f(4, 4, 5)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 4), f(3, 4)), InvalidType, 'ndim'),
              (call(f(2), f(2, 4), f(1, 4, 5)), InvalidType, 'ndim'),
              (call(f(2, 3), f(2, 4), own('float16', 3, 4, 5)), InvalidType, 'dtype'),
              (call(f(2, 3), f(2, 4), f(3, 4, 5), b=f(5)), ValueError, 'V1'),
              (call(f(2, 3), f(2, 4), f(3, 4, 5), f(3, 5), f(4, 5)), ValueError, 'b')]),
    Case('bilinear', ref=bilinear, cls='connection.bilinear.BilinearFunction', tol=8, gtol=4,
         calls=[call(f(2, 3), f(2, 4), f(3, 4, 5), f(3, 5), f(4, 5), f(5)),
                call(f(2, 3), f(2, 4), f(3, 4, 5), V1=f(3, 5), V2=f(4, 5), b=f(5))],
         bad=[(call(f(2, 3), f(2, 4), f(3, 4, 5), f(3, 4), f(4, 5), f(5)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 4), f(3, 4, 5), f(3, 5), f(4, 4), f(5)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 4), f(3, 4, 5), f(3, 5), f(4, 5), f(4)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 4), f(3, 4, 5), f(3, 5), f(4, 5), f(5, 1)), InvalidType,
               'ndim')]),
    Case('shift', ref=shift, cls='connection.shift.Shift',
         calls=[call(f(2, 20, 4, 5)), call(f(2, 7, 4, 5), (1, 3), (2, 1)),
                call(f(1, 15, 6, 5), [3, 5], dilate=2), call(f(2, 3, 2, 2), ksize=1),
                call(f(1, 9, 2, 1)), call(f(0, 9, 2, 2))],
         attributes=[{'kh': 3, 'kw': 3, 'dy': 1, 'dx': 1}, {'kh': 1, 'kw': 3, 'dy': 2, 'dx': 1}],
         big=call(f(2, 90, 20, 20)),
         bad=[(call(f(1, 5, 3, 3)), InvalidType, 'shape'), (call(f(1, 9, 3)), InvalidType, 'ndim'),
              (call(f(1, 9, 3, 3), 2), ValueError, 'kh is 2'),
              (call(f(1, 9, 3, 3), (3, 0)), ValueError, 'kw is 0'),
              (call(f(1, 9, 3, 3), dilate=0), ValueError, 'dilate'),
              (call(f(1, 9, 3, 3), (3, 3, 3)), TypeError, 'ksize'),
              (call(f(1, 9, 3, 3), 3, (1, 1.0)), TypeError, 'dilate')]),
]  # fmt: skip
