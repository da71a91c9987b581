"""Losses."""

from __future__ import annotations

import typing as tp

import chainerx as chx
from chainerx.onnx._formula import Expression, formula
from chainerx.onnx._routine import composed


@formula('squared_error')
def _(x1: Expression, x2: Expression) -> Expression:
    d = x1 - x2
    return d * d


@formula('absolute_error')
def _(x1: Expression, x2: Expression) -> Expression:
    return abs(x1 - x2)


@formula('huber_loss')
def _(x1: Expression, x2: Expression, delta: Expression) -> Expression:
    size = abs(x1 - x2)
    return (size > delta).where(delta * (size - delta * 0.5), size * size * 0.5)


@formula('gaussian_kl_divergence')
def _(mean: Expression, ln_var: Expression) -> Expression:
    return (mean * mean + ln_var.op('Exp') - ln_var - 1) * 0.5


@composed('sigmoid_cross_entropy')
def _(x1: tp.Any, x2: tp.Any) -> tp.Any:
    x = x1 if x1.dtype.kind in 'fV' else x1.astype('float32')
    t = x2.astype(x.dtype)
    y = chx.maximum(x, 0) - x * t + chx.log1p(chx.exp(-chx.absolute(x)))
    return chx.where(chx.equal(x2, -1), 0.0, y)


@composed('hinge')
def _(x1: tp.Any, x2: tp.Any, norm: float = 1.0) -> tp.Any:
    x = x1 if x1.dtype.kind in 'fV' else x1.astype('float32')
    classes = chx.arange(int(x.shape[1]), dtype='int64')
    is_right = chx.equal(chx.expand_dims(x2.astype('int64'), 1), classes)
    y = chx.maximum(1 - chx.where(is_right, x, -x), 0)
    return y if norm == 1 else chx.power(y, norm)


@composed('softmax_cross_entropy')
def _(x1: tp.Any, x2: tp.Any, label_smoothing: float = 0.0) -> tp.Any:
    logs = chx.log_softmax(x1, 1)
    t = x2.astype('int64')
    is_known = chx.greater_equal(t, 0)
    places = chx.expand_dims(chx.where(is_known, t, 0), 1)
    y = -chx.squeeze(chx.take_along_axis(logs, places, 1), 1)
    if label_smoothing:
        spread = -chx.mean(logs, 1)
        y = y * (1 - label_smoothing) + spread * label_smoothing
    return chx.where(is_known, y, 0.0)


@composed('accuracy')
def _(y: tp.Any, t: tp.Any, ignore_label: int | None = None) -> tp.Any:
    best = chx.argmax(y, 1)
    t = chx.reshape(t, best.shape)
    found = chx.equal(best, t.astype('int64'))
    if ignore_label is None:
        return chx.mean(found.astype(y.dtype))
    counts = chx.not_equal(t, ignore_label)
    right = chx.sum(chx.logical_and(found, counts).astype(y.dtype))
    n = chx.sum(counts.astype(y.dtype))
    return chx.where(n > 0, right / chx.maximum(n, 1), 0.0)
