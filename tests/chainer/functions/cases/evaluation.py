"""Rows of chainer.functions.evaluation."""

import numpy as np
from functions.cases._table import Case, InvalidType, c, call, f, i, own


def _accuracy(y, t, ignore_label=None):
    hit = y.argmax(1).reshape(t.shape) == t
    kept = np.ones_like(hit) if ignore_label is None else t != ignore_label
    return (hit & kept).sum() / max(kept.sum(), 1)


def _binary_accuracy(y, t):
    return ((y >= 0) == t)[t != -1].mean() if (t != -1).any() else 0.0


CASES = [
    Case('accuracy', ref=_accuracy, order=0, cls='evaluation.accuracy.Accuracy', tol=2,
         calls=[call(f(5, 3, distinct=True), i(5)), call(f(4, 3, 2, distinct=True), i(4, 2)),
                call(f(5, 3, distinct=True), i(5), 1), call(f(5, 3, distinct=True), i(5), 7),
                call(f(4, 3, 1, 1, distinct=True), i(4)), call(f(2, 3), c([1, 1], 'int32'), 1)],
         attributes=[{'ignore_label': None}, {}, {'ignore_label': 1}],
         bad=[(call(f(3, 4), own('float32', 3)), InvalidType, 'kind'),
              (call(f(3), i(3)), InvalidType, 'ndim'), (call(f(3, 4), i(4)), InvalidType, 'shape'),
              (call(f(3, 4, 2), i(3)), InvalidType, 'shape')]),
    Case('binary_accuracy', ref=_binary_accuracy, order=0, tol=2,
         cls='evaluation.binary_accuracy.BinaryAccuracy',
         calls=[call(f(5, 3), i(5, 3, lo=-1, hi=1)), call(f(4), i(4, hi=1)), call(f(), i(hi=1)),
                call(f(2), c([-1, -1], 'int32'))],
         bad=[(call(f(3), i(4)), InvalidType, 'shape'),
              (call(f(3), own('float32', 3)), InvalidType, 'kind')]),
]  # fmt: skip
