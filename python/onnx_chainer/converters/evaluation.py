"""Scores of predictions, and covariances of features."""

from __future__ import annotations

import numpy as np

from onnx_chainer.converters._registry import Conversion, converts


@converts('R2_score')
def r2_score(g: Conversion) -> str:
    pred, true = g.x
    missed = g.op('Sub', [true, pred])
    centered = g.op('Sub', [true, g.reduce('Mean', true, [0], keepdims=True)])
    rest, total = (g.reduce('Sum', g.op('Mul', [x, x]), [0]) for x in (missed, centered))
    varies = g.cast(total, bool)
    ratio = g.op('Div', [rest, g.where(varies, total, g.like(1, 1))])
    score = g.where(varies, g.op('Sub', [g.like(1), ratio]), g.like(0))
    return score if g.func.multioutput == 'raw_values' else g.reduce('Mean', score, None)


def _centered(g: Conversion, x: str) -> str:
    return g.op('Sub', [x, g.reduce('Mean', x, [0], keepdims=True)])


def _covariance(g: Conversion, a: str, b: str) -> str:
    n = g.like(g.shape(0)[0])
    if g.is_open:
        n = g.cast(g.length_of(g.x[0], 0), g.dtype(0))
    return g.op('Div', [g.op('MatMul', [g.transpose(a, [1, 0]), b]), n])


def _half_squares(g: Conversion, x: str) -> str:
    if g.func.reduce == 'no':
        return x
    return g.op('Mul', [g.reduce('SumSquare', x, None), g.like(0.5)])


@converts('DeCov')
def decov(g: Conversion) -> str:
    x = _centered(g, g.x[0])
    others = g.like(1 - np.eye(g.shape(0)[1]))
    return _half_squares(g, g.op('Mul', [_covariance(g, x, x), others]))


@converts('CrossCovariance')
def cross_covariance(g: Conversion) -> str:
    a, b = (_centered(g, x) for x in g.x)
    return _half_squares(g, _covariance(g, a, b))


@converts('ClassificationSummary')
def classification_summary(g: Conversion) -> tuple[str, ...]:
    f, classes = g.func, g.out_shape()[0]
    labels = g.reshape(g.cast(g.x[1], np.int64), [-1])
    best = g.reshape(g.op('ArgMax', [g.x[0]], axis=1, keepdims=0), [-1])
    is_used = g.op('Not', [g.op('Equal', [labels, g.const(f.ignore_label, 'ignored', np.int64)])])
    # Classes that are not counted are in a last column, which is left out.
    columns = g.const(classes, 'classes', np.int64)
    rows = []
    for x in (labels, best):
        is_known = g.op('And', [is_used, g.op('Less', [x, columns])])
        chosen = g.one_hot(g.where(is_known, x, columns), classes + 1, 1, np.float32)
        rows.append(g.slice(chosen, [0], [classes], [1]))
    support, taken, right = (
        g.cast(g.reduce('Sum', x, [0]), np.float64) for x in (*rows, g.op('Mul', rows))
    )
    precision, recall = g.op('Div', [right, taken]), g.op('Div', [right, support])
    weight = float(f.beta) ** 2
    both = g.op('Mul', [g.op('Mul', [precision, recall]), g.const(1 + weight, 'beta', np.float64)])
    weighted = g.op('Mul', [precision, g.const(weight, 'weight', np.float64)])
    score = g.op('Div', [both, g.op('Add', [weighted, recall])])
    return precision, recall, score, g.cast(support, np.int64)
