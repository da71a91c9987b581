"""Losses."""

from __future__ import annotations

import numpy as np
from chainerx.onnx._terms import Term

from onnx_chainer.converters._registry import Conversion, converts


def _mean_of(g: Conversion, x: str) -> str:
    return g.reduce('Mean', x, None)


@converts('MeanSquaredError')
def mean_squared_error(g: Conversion) -> str:
    difference = g.op('Sub', g.x)
    return _mean_of(g, g.op('Mul', [difference, difference]))


@converts('MeanAbsoluteError')
def mean_absolute_error(g: Conversion) -> str:
    return _mean_of(g, g.op('Abs', [g.op('Sub', g.x)]))


@converts('SquaredError')
def squared_error(g: Conversion) -> str:
    difference = g.op('Sub', g.x)
    return g.op('Mul', [difference, difference])


@converts('AbsoluteError')
def absolute_error(g: Conversion) -> str:
    return g.op('Abs', [g.op('Sub', g.x)])


@converts('HuberLoss')
def huber_loss(g: Conversion) -> str:
    delta = float(g.func.delta)
    a = g.op('Abs', [g.op('Sub', g.x)])
    near = g.clip(a, None, delta, g.dtype(0))
    # near (a - near / 2): a^2 / 2 up to delta, a line from there on
    y = g.op('Mul', [near, g.op('Sub', [a, g.op('Mul', [near, g.like(0.5)])])])
    if g.func.reduce == 'no':
        return y
    return g.reduce('Sum', y, range(1, len(g.shape(0))))


@converts('SigmoidCrossEntropy')
def sigmoid_cross_entropy(g: Conversion) -> str:
    x, t = g.x
    dtype = g.dtype(0)
    is_used = g.op('Not', [g.op('Equal', [t, g.like(-1, 1)])])
    target = g.cast(t, dtype)
    # max(x, 0) - x t + log(1 + exp(-|x|))
    small = g.op('Softplus', [g.op('Neg', [g.op('Abs', [x])])])
    y = g.op('Add', [g.op('Sub', [g.op('Relu', [x]), g.op('Mul', [x, target])]), small])
    y = g.where(is_used, y, g.like(0))
    if g.func.reduce == 'no':
        return y
    total = g.reduce('Sum', y, None)
    if not g.func.normalize:
        return g.op('Div', [total, _examples(g)])
    return g.op('Div', [total, _count(g, is_used)])


def _examples(g: Conversion) -> str:
    """How many examples input 0 has, at least 1, in its dtype."""
    if not g.is_open:
        return g.like(max(g.shape(0)[0], 1))
    count = g.squeeze(g.cast(g.length_of(g.x[0], 0), np.float32), [0])
    return g.cast(g.op('Max', [count, g.const(1, 'one', np.float32)]), g.dtype(0))


def _count(g: Conversion, is_used: str) -> str:
    """How many elements are used, at least 1, in the dtype of input 0."""
    count = g.reduce('Sum', g.cast(is_used, np.float32), None)
    return g.cast(g.op('Max', [count, g.const(1, 'one', np.float32)]), g.dtype(0))


@converts('SoftmaxCrossEntropy')
def softmax_cross_entropy(g: Conversion) -> str:
    if g.dtype(1).kind == 'f':
        return _of_probabilities(g)
    f, shape, dtype = g.func, g.shape(0), g.dtype(0)
    x, t = g.x
    log_p = g.flat_softmax('LogSoftmax', x, 1, len(shape))
    ignored = g.like(f.ignore_label, 1)
    is_used = g.op('Not', [g.op('Equal', [t, ignored])])
    label = g.where(is_used, t, g.like(0, 1))
    chosen = g.one_hot(label, shape[1], 1, dtype)
    weight = None
    if f.class_weight is not None:
        weight = g.cast(g.value_of(f.class_weight, 'class_weight'), dtype)
        weight = g.unsqueeze(weight, [0, *range(2, len(shape))])
        chosen = g.op('Mul', [chosen, weight])
    is_chosen = g.cast(chosen, bool)
    # A probability of 0 has -inf as logarithm, whose product with 0 is NaN.
    picked = g.where(is_chosen, g.op('Mul', [log_p, chosen]), g.like(0))
    loss = g.op('Neg', [g.reduce('Sum', picked, [1])])
    if smoothing := float(f.label_smoothing):
        even = log_p if weight is None else g.op('Mul', [log_p, weight])
        even = g.op('Mul', [g.reduce('Mean', even, [1]), g.like(-smoothing)])
        loss = g.op('Add', [g.op('Mul', [loss, g.like(1 - smoothing)]), even])
    loss = g.where(is_used, loss, g.like(0))
    if f.reduce == 'no':
        return loss
    total = g.reduce('Sum', loss, None)
    if f.normalize:
        return g.op('Div', [total, _count(g, is_used)])
    return g.op('Div', [total, _examples(g)])


def _of_probabilities(g: Conversion) -> str:
    f = g.func
    x = Term(g, g.flat_softmax('LogSoftmax', g.x[0], 1, len(g.shape(0))), g.dtype(0))
    t = g.term(1)
    if smoothing := float(f.label_smoothing):
        t = t * (1 - smoothing) + smoothing / max(g.fixed(0, 1, 'label_smoothing'), 1)
    loss = g.op('Neg', [g.reduce('Sum', (t.cast(x.dtype) * x).name, [1])])
    if f.soft_target_loss == 'kl-divergence':
        # 0 log 0 is 0.
        spread = t * (t > 0).where(t, 1).log()
        loss = g.op('Add', [loss, g.reduce('Sum', spread.cast(x.dtype).name, [1])])
    return loss if f.reduce == 'no' else _mean_of(g, loss)


def _row_squares(g: Conversion, a: str, b: str) -> str:
    return g.reduce('SumSquare', g.op('Sub', [a, b]), [1])


def _mean_of_rows(g: Conversion, y: str) -> str:
    return y if g.func.reduce == 'no' else g.reduce('Mean', y, None)


@converts('Contrastive')
def contrastive(g: Conversion) -> str:
    square = _row_squares(g, g.x[0], g.x[1])
    short = g.op('Sub', [g.like(g.func.margin), g.op('Sqrt', [square])])
    short = g.op('Relu', [short])
    is_one = g.op('Equal', [g.cast(g.x[2], np.int64), g.const(1, 'one', np.int64)])
    y = g.where(is_one, square, g.op('Mul', [short, short]))
    return _mean_of_rows(g, g.op('Mul', [y, g.like(0.5)]))


@converts('Triplet')
def triplet(g: Conversion) -> str:
    anchor, positive, negative = g.x
    difference = g.op('Sub', [_row_squares(g, anchor, positive), _row_squares(g, anchor, negative)])
    y = g.op('Relu', [g.op('Add', [difference, g.like(g.func.margin)])])
    return _mean_of_rows(g, y)


@converts('Hinge')
def hinge(g: Conversion) -> str:
    x, t = g.x
    chosen = g.one_hot(t, g.shape(0)[1], 1, g.dtype(0))
    sign = g.op('Sub', [g.op('Mul', [chosen, g.like(2)]), g.like(1)])
    y = g.op('Relu', [g.op('Sub', [g.like(1), g.op('Mul', [sign, x])])])
    if g.func.norm == 'L2':
        y = g.op('Mul', [y, y])
    if g.func.reduce == 'no':
        return y
    return g.op('Div', [g.reduce('Sum', y, None), _examples(g)])


@converts('Accuracy')
def accuracy(g: Conversion) -> str:
    y, t = g.x
    ignored = g.func.ignore_label
    best = g.op('ArgMax', [y], axis=1, keepdims=0)
    missing = len(g.shape(0)) - 1 - len(g.shape(1))
    t = g.unsqueeze(g.cast(t, np.int64), range(len(g.shape(1)), len(g.shape(1)) + missing))
    is_right = g.cast(g.op('Equal', [best, t]), g.dtype(0))
    if ignored is None:
        return g.reduce('Mean', is_right, None)
    is_used = g.cast(
        g.op('Not', [g.op('Equal', [t, g.const(ignored, 'ignored', np.int64)])]), g.dtype(0)
    )
    right = g.reduce('Sum', g.op('Mul', [is_right, is_used]), None)
    count = g.reduce('Sum', is_used, None)
    none = g.op('Less', [count, g.like(0.5)])
    return g.where(none, g.like(0), g.op('Div', [right, g.op('Max', [count, g.like(1)])]))


@converts('BinaryAccuracy')
def binary_accuracy(g: Conversion) -> str:
    y, t = g.x
    dtype = g.dtype(0)
    label = g.cast(t, np.int64)
    is_used = g.op('Not', [g.op('Equal', [label, g.const(-1, 'ignored', np.int64)])])
    is_above = g.op('Not', [g.op('Less', [y, g.like(0)])])
    is_one = g.op('Equal', [label, g.const(1, 'one', np.int64)])
    is_right = g.op('And', [g.op('Not', [g.op('Xor', [is_above, is_one])]), is_used])
    right = g.reduce('Sum', g.cast(is_right, dtype), None)
    return g.op('Div', [right, _count(g, is_used)])
