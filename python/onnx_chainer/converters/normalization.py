"""Normalizations."""

from __future__ import annotations

import numpy as np
from chainerx.onnx._terms import Term

from onnx_chainer.converters._registry import Conversion, converts


def _other_axes(g: Conversion) -> list[int]:
    key = g.func.key_axis
    return [i for i in range(len(g.shape(0))) if i not in key]


def _scaled(g: Conversion, centered: str, variance: str, eps: float, gamma: str, beta: str) -> str:
    std = g.op('Sqrt', [g.op('Add', [variance, g.like(eps)])])
    return g.op('Add', [g.op('Mul', [g.op('Div', [centered, std]), gamma]), beta])


@converts('FixedBatchNormalization')
def fixed_batch_normalization(g: Conversion) -> str:
    eps = float(g.func.eps)
    if tuple(g.func.key_axis) == (1,):
        return g.op('BatchNormalization', g.x, epsilon=eps)
    axes = _other_axes(g)
    gamma, beta, mean, variance = (g.unsqueeze(x, axes) for x in g.x[1:])
    return _scaled(g, g.op('Sub', [g.x[0], mean]), variance, eps, gamma, beta)


@converts('BatchNormalization')
def batch_normalization(g: Conversion) -> str:
    axes = _other_axes(g)
    x = g.x[0]
    mean = g.reduce('Mean', x, axes, keepdims=True)
    centered = g.op('Sub', [x, mean])
    variance = g.reduce('Mean', g.op('Mul', [centered, centered]), axes, keepdims=True)
    gamma, beta = (g.unsqueeze(p, axes) for p in g.x[1:3])
    return _scaled(g, centered, variance, float(g.func.eps), gamma, beta)


@converts('BatchRenormalizationFunction')
def batch_renormalization(g: Conversion) -> str:
    f, x = g.func, g.wide(0)
    n_axes = len(g.shape(1))
    axes = [0, *range(1 + n_axes, len(g.shape(0)))]

    def mean_of(v: Term) -> Term:
        return Term(g, g.reduce('Mean', v.name, axes, keepdims=True), v.dtype)

    def shown(v: Term) -> Term:
        return Term(g, g.unsqueeze(v.cast(x.dtype).name, axes), x.dtype)

    old_mean, old_variance = (
        shown(Term(g, g.value_of(v, name), v.dtype))
        for name, v in (('mean', f.running_mean), ('variance', f.running_var))
    )
    centered = x - (mean := mean_of(x))
    std = (mean_of(centered * centered) + float(f.eps)).sqrt()
    old_std = (old_variance + float(f.eps)).sqrt()

    def bounded(v: Term, low: float, high: float) -> Term:
        return Term(g, g.clip(v.name, float(low), float(high), v.dtype), v.dtype)

    r = bounded(std / old_std, 1 / f.rmax, f.rmax)
    d = bounded((mean - old_mean) / old_std, -f.dmax, f.dmax)
    y = (centered / std * r + d) * shown(g.term(1)) + shown(g.term(2))
    return y.cast(g.out_dtype()).name


@converts('FixedDecorrelatedBatchNormalization')
def fixed_decorrelated_batch_normalization(g: Conversion) -> str:
    x, groups, shape = g.wide(0), int(g.func.groups), g.shape(0)
    g.hint(g.lengths(0))
    mean, projection = (g.term(i).cast(x.dtype) for i in (1, 2))
    rows = Term(g, g.reshape(x.name, [0, groups, shape[1] // groups, -1]), x.dtype)
    centered = rows - Term(g, g.unsqueeze(mean.name, [2]), x.dtype)
    y = projection.op('MatMul', centered).cast(g.out_dtype()).name
    target = g.op('Shape', [g.x[0]]) if g.is_open else g.ints([0, *shape[1:]], 'shape')
    return g.op('Reshape', [y, target])


@converts('GroupNormalization')
def group_normalization(g: Conversion) -> str:
    x, gamma, beta = g.x
    shape, groups, eps = g.shape(0), int(g.func.groups), float(g.func.eps)
    g.hint(g.lengths(0))
    if g.opset >= 21:
        return g.op('GroupNormalization', g.x, num_groups=groups, epsilon=eps)
    ones = g.const(np.ones(groups), 'ones', g.dtype(0))
    zeros = g.const(np.zeros(groups), 'zeros', g.dtype(0))
    rows = g.reshape(x, [0, groups, -1])
    y = g.op('InstanceNormalization', [rows, ones, zeros], epsilon=eps)
    target = g.op('Shape', [x]) if g.is_open else g.ints([0, *shape[1:]], 'shape')
    y = g.op('Reshape', [y, target])
    axes = range(1, len(shape) - 1)
    y = g.op('Mul', [y, g.unsqueeze(gamma, axes)])
    return g.op('Add', [y, g.unsqueeze(beta, axes)])


@converts('LayerNormalization')
def layer_normalization(g: Conversion) -> str:
    eps = float(g.func.eps)
    if g.opset >= 17:
        return g.op('LayerNormalization', g.x, axis=1, epsilon=eps)
    x, gamma, beta = g.x
    axes = range(1, len(g.shape(0)))
    centered = g.op('Sub', [x, g.reduce('Mean', x, axes, keepdims=True)])
    variance = g.reduce('Mean', g.op('Mul', [centered, centered]), axes, keepdims=True)
    return _scaled(g, centered, variance, eps, gamma, beta)


@converts('LocalResponseNormalization')
def local_response_normalization(g: Conversion) -> str:
    f = g.func
    return g.op(
        'LRN', g.x, size=int(f.n), alpha=float(f.alpha) * f.n, beta=float(f.beta), bias=float(f.k)
    )


@converts('NormalizeL2')
def normalize_l2(g: Conversion) -> str:
    axis = g.func.axis
    axes = [axis] if isinstance(axis, int) else list(axis)
    axes = sorted(i % len(g.shape(0)) for i in axes)
    norm = g.reduce('L2', g.x[0], axes, keepdims=True)
    return g.op('Div', [g.x[0], g.op('Add', [norm, g.like(g.func.eps)])])


@converts('RMSNorm')
def rms_norm(g: Conversion) -> str:
    x = g.x[0]
    n_axes = len(g.shape(1)) if g.has(1) else 1
    ndim = len(g.shape(0))
    axes = range(ndim - n_axes, ndim)
    square = g.reduce('Mean', g.op('Mul', [x, x]), axes, keepdims=True)
    root = g.op('Sqrt', [g.op('Add', [square, g.like(g.func.eps)])])
    y = g.op('Div', [x, root])
    return g.op('Mul', [y, g.x[1]]) if g.has(1) else y
