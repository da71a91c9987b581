"""Rows of chainer.functions.evaluation."""

import numpy as np
from functions.cases._table import Case, InvalidType, c, call, f, i, own


def _accuracy(y, t, ignore_label=None):
    hit = y.argmax(1).reshape(t.shape) == t
    kept = np.ones_like(hit) if ignore_label is None else t != ignore_label
    return (hit & kept).sum() / max(kept.sum(), 1)


def _binary_accuracy(y, t):
    return ((y >= 0) == t)[t != -1].mean() if (t != -1).any() else 0.0


def _r2_score(pred, true, sample_weight=None, multioutput='uniform_average'):
    rest, total = ((true - pred) ** 2).sum(0), ((true - true.mean(0)) ** 2).sum(0)
    score = np.where(total == 0, 0, 1 - rest / np.where(total == 0, 1, total))
    return score if multioutput == 'raw_values' else score.mean()


def _summary(y, t, label_num=None, beta=1.0, ignore_label=-1):
    predicted = y.argmax(1).reshape(t.shape)
    classes = np.arange(t.max(initial=-1) + 1 if label_num is None else label_num)
    kept = t != ignore_label
    rows = []
    for k in classes:
        right = ((predicted == k) & (t == k) & kept).sum()
        precision, recall = right / ((predicted == k) & kept).sum(), right / ((t == k) & kept).sum()
        fbeta = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        rows.append((precision, recall, fbeta, ((t == k) & kept).sum()))
    return tuple(np.array(rows).reshape(-1, 4).T)


def _part(name, column):
    """A function that returns one column of the summary, and support."""
    path = 'evaluation.classification_summary.ClassificationSummary'
    return Case(name, ref=lambda y, t, *args, **kw: (_summary(y, t, *args, **kw)[column],
                                                     _summary(y, t, *args, **kw)[3]),
                order=0, direct=False, cls=path, out=('float64', 'int64'), big=_BIG,
                picks=(column, 3),
                calls=[call(_SCORES, _LABELS), call(_SCORES, _LABELS, 5),
                       call(_SCORES, _LABELS, label_num=2, ignore_label=0)],
                attributes=[{'label_num': None, 'beta': 1.0, 'ignore_label': -1}, {'label_num': 5},
                            {'label_num': 2, 'ignore_label': 0}],
                bad=[(call(f(3, 4), i(4)), InvalidType, 'shape')])  # fmt: skip


_SCORES = c(2 * np.eye(4)[[0, 1, 2, 1, 0, 3, 3]] - np.linspace(0, 1, 4))
_LABELS = c([0, 1, 2, 1, 0, 3, 2], 'int32')
_BIG = call(f(3000, 4), own('int32', 3000, lo=0, hi=3))

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
    Case('r2_score', ref=_r2_score, order=0, cls='evaluation.r2_score.R2_score', tol=8,
         calls=[call(f(5, 3), f(5, 3)), call(f(5), f(5)), call(f(5, 3, 2), f(5, 3, 2)),
                call(f(5, 3), f(5, 3), multioutput='raw_values'), call(f(3), c([2, 2, 2])),
                call(c([[1, 1], [1, 2]]), c([[1, 1], [1, 3]]), None, 'raw_values')],
         attributes=[{'multioutput': 'uniform_average'}, {}, {}, {'multioutput': 'raw_values'}],
         bad=[(call(f(4), f(3)), InvalidType, 'shape'), (call(f(), f()), InvalidType, 'ndim'),
              (call(f(3), own('int32', 3)), InvalidType, 'kind'),
              (call(f(3), f(3), multioutput='x'), ValueError, "'x'"),
              (call(f(3), f(3), np.ones(3)), NotImplementedError, 'sample_weight')]),
    Case('classification_summary', ref=_summary, order=0,
         out=('float64', 'float64', 'float64', 'int64'), big=_BIG,
         cls='evaluation.classification_summary.ClassificationSummary',
         calls=[call(_SCORES, _LABELS), call(_SCORES, _LABELS, 6, 2.0),
                call(_SCORES, c([0, 1, -1, 1, 0, 3, -1], 'int64')),
                call(_SCORES, _LABELS, label_num=2, ignore_label=1),
                call(f(2, 3, 2, 1, distinct=True), c([[0, 1], [1, -1]], 'int8')),
                call(_SCORES, c([-1] * 7, 'int32')), call(f(0, 3), own('int32', 0)),
                call(f(0, 3), own('int32', 0), 2)],
         attributes=[{'label_num': None, 'beta': 1.0, 'ignore_label': -1},
                     {'label_num': 6, 'beta': 2.0}, {}, {'ignore_label': 1}],
         bad=[(call(f(3, 4), own('float32', 3)), InvalidType, 'kind'),
              (call(f(3, 4), own('uint8', 3)), InvalidType, 'kind'),
              (call(f(3), i(3)), InvalidType, 'ndim'), (call(f(3, 4), i(4)), InvalidType, 'shape'),
              (call(f(3, 4, 2), i(3)), InvalidType, 'shape'),
              (call(f(2, 4), c([0, -2], 'int32')), ValueError, '-2'),
              (call(f(2, 4), c([0, -1], 'int32'), ignore_label=0), ValueError, '-1')]),
    _part('precision', 0),
    _part('recall', 1),
    _part('f1_score', 2),
]  # fmt: skip
