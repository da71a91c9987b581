"""Attention."""

from __future__ import annotations

import math

import numpy as np

from onnx_chainer.converters._registry import Conversion, converts
from onnx_chainer.converters.noise import dropped


@converts('ScaledDotProductAttention')
def scaled_dot_product_attention(g: Conversion) -> str:
    f = g.func
    query, key, value = g.x[:3]
    shape, key_shape = g.shape(0), g.shape(1)
    if _is_attention_of_onnx(g):
        g.hint([*g.lengths(0)[:-1], g.lengths(2)[-1]])
        is_causal = int(f.is_causal)
        if f.scale is None:  # in more digits than the attribute has
            return g.op('Attention', g.x[:3], is_causal=is_causal)
        return g.op('Attention', g.x[:3], is_causal=is_causal, scale=float(f.scale))
    if f.enable_gqa and shape[-3] != key_shape[-3]:
        key, value = (_repeated_heads(g, x, i, shape[-3]) for x, i in ((key, 1), (value, 2)))
    turned = g.transpose(key, _last_two_swapped(len(key_shape)))
    scale = 1 / math.sqrt(g.fixed(0, -1, 'scale=None')) if f.scale is None else f.scale
    scores = g.op('Mul', [g.op('MatMul', [query, turned]), g.like(scale)])
    kept = None
    if g.has(3):
        if g.dtype(3).kind == 'b':
            kept = g.x[3]
        else:
            scores = g.op('Add', [scores, g.x[3]])
    if f.is_causal:
        if isinstance(g.lengths(0)[-2], int) and isinstance(g.lengths(1)[-2], int):
            mask = g.const(np.tril(np.ones((shape[-2], key_shape[-2]), bool)), 'causal')
        else:
            rows = g.unsqueeze(_places(g, g.x[0], len(shape) - 2), [1])
            mask = g.op('Not', [g.op('Less', [rows, _places(g, g.x[1], len(key_shape) - 2)])])
        kept = mask if kept is None else g.op('And', [kept, mask])
    if kept is not None:
        scores = g.where(kept, scores, g.like(-np.inf))
    if len(shape) == len(key_shape):
        g.hint([*g.lengths(0)[:-1], g.lengths(2)[-1]])
    axis = max(len(shape), len(key_shape)) - 1
    weights = g.flat_softmax('Softmax', scores, axis, axis + 1)
    if g.has(3):
        # A query for which no key takes part has NaN.
        best = g.reduce('Max', scores, [axis], keepdims=True)
        is_empty = g.op('Less', [best, g.like(np.finfo(g.dtype(0)).min)])
        weights = g.where(is_empty, g.like(0), weights)
    if f.dropout_p and g.train:
        weights = dropped(g, weights, float(f.dropout_p))
    return g.op('MatMul', [weights, value])


def _is_attention_of_onnx(g: Conversion) -> bool:
    """Whether there is an operator for it, whose meaning is beyond doubt.

    Which keys a query sees has changed where they are not as many, and what a query without a key
    gives is not said.
    """
    f, lengths = g.func, [g.lengths(i) for i in range(3)]
    if g.opset < 23 or g.has(3) or g.dtype(0).itemsize > 4 or any(len(n) != 4 for n in lengths):
        return False
    if f.is_causal and lengths[0][2] != lengths[1][2]:
        return False
    query, key, value = (n[: 1 if f.enable_gqa else 2] for n in lengths)
    return bool(query == key == value)


def _places(g: Conversion, x: str, axis: int) -> str:
    """0, 1, ... along an axis of a value."""
    g.need(11, 'Range')
    zero, one = (g.const(n, 'bound', np.int64) for n in (0, 1))
    return g.op('Range', [zero, g.squeeze(g.length_of(x, axis), [0]), one])


def _last_two_swapped(ndim: int) -> list[int]:
    return [*range(ndim - 2), ndim - 1, ndim - 2]


def _repeated_heads(g: Conversion, x: str, i: int, heads: int) -> str:
    shape = g.shape(i)
    axis = len(shape) - 3
    places = np.repeat(np.arange(shape[axis]), heads // shape[axis])
    return g.op('Gather', [x, g.ints(places, 'heads')], axis=axis)


@converts('RotaryEmbedding')
def rotary_embedding(g: Conversion) -> str:
    f, shape = g.func, g.shape(0)
    g.hint(g.lengths(0))
    depth, pairs = shape[-1], shape[-1] // 2
    steps = f.base ** (-2.0 * np.arange(pairs) / depth)
    last = len(shape) - 1
    if g.has(1) or not isinstance(g.lengths(0)[-2], int):
        given = g.x[1] if g.has(1) else _places(g, g.x[0], last - 1)
        positions = g.op('Add', [g.cast(given, np.float32), g.const(f.offset, 'offset', 'f')])
        n_axes = len(g.shape(1)) if g.has(1) else 1
        angles = g.op('Mul', [g.unsqueeze(positions, [n_axes]), g.const(steps, 'steps', 'f')])
        cos, sin = (g.cast(g.op(op, [angles]), g.dtype(0)) for op in ('Cos', 'Sin'))
    else:
        table = np.outer(np.arange(shape[-2]) + f.offset, steps)
        cos, sin = g.like(np.cos(table)), g.like(np.sin(table))
    if f.interleaved:
        parts = g.split(g.reshape(g.x[0], [*[0] * last, pairs, 2]), [1, 1], last + 1)
        a, b = (g.squeeze(part, [last + 1]) for part in parts)
    else:
        a, b = g.split(g.x[0], [pairs, pairs], last)
    first = g.op('Sub', [g.op('Mul', [a, cos]), g.op('Mul', [b, sin])])
    second = g.op('Add', [g.op('Mul', [b, cos]), g.op('Mul', [a, sin])])
    if f.interleaved:
        both = [g.unsqueeze(part, [last + 1]) for part in (first, second)]
        return g.reshape(g.concat(both, last + 1), [*[0] * last, depth])
    return g.concat([first, second], last)
