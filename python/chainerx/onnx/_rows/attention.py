"""Attention."""

from __future__ import annotations

import math
import typing as tp

import numpy as np

import chainerx as chx
from chainerx.onnx._routine import composed
from chainerx.onnx._symbols import Length


def _positions(x: tp.Any, axis: int) -> tp.Any:
    """0, 1, 2, ... along an axis, which may be open, with lengths of 1 elsewhere."""
    n = x.shape[axis]
    shape = [1] * x.ndim
    if not isinstance(n, Length):
        shape[axis] = n
        return chx.array(np.arange(n).reshape(shape))
    index = tuple([slice(None) if i == axis % x.ndim else slice(0, 1) for i in range(x.ndim)])
    return chx.cumsum(chx.ones_like(x[index], dtype='int64'), axis) - 1


def _heads_of(x: tp.Any, n: int) -> tp.Any:
    """Repeats each head for several of the query."""
    return x if n == 1 else chx.repeat(x, n, x.ndim - 3)


@composed('scaled_dot_product_attention')
def _(
    query: tp.Any,
    key: tp.Any,
    value: tp.Any,
    attn_mask: tp.Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    dropout_key: int | None = None,
) -> tp.Any:
    if dropout_p:
        raise TypeError('export: scaled_dot_product_attention: dropout_p draws random numbers')
    if enable_gqa:
        n = int(query.shape[-3]) // max(int(key.shape[-3]), 1)
        key, value = _heads_of(key, n), _heads_of(value, n)
    dtype = query.dtype if query.dtype.name == 'float64' else 'float32'
    q, k, v = (x.astype(dtype, copy=False) for x in (query, key, value))
    scale = 1 / math.sqrt(max(int(query.shape[-1]), 1)) if scale is None else scale
    scores = chx.matmul(q * scale, chx.swapaxes(k, -1, -2))
    allowed = None
    if attn_mask is not None and attn_mask.dtype == bool:
        allowed = attn_mask
    elif attn_mask is not None:
        scores = scores + attn_mask.astype(dtype, copy=False)
        allowed = attn_mask > -math.inf
    if is_causal:
        ahead = _positions(scores, -1) <= _positions(scores, -2)
        allowed = ahead if allowed is None else chx.logical_and(allowed, ahead)
    if allowed is None:
        return chx.matmul(chx.softmax(scores, -1), v)
    # Of a row without keys all scores are equal, and its weights become zeros.
    scores = chx.where(allowed, scores, float(np.finfo(np.float32).min))
    weights = chx.where(allowed, chx.softmax(scores, -1), 0.0)
    return chx.matmul(weights, v)


@composed('rotary_embedding')
def _(
    x: tp.Any,
    positions: tp.Any = None,
    base: float = 10000.0,
    interleaved: bool = False,
    offset: int = 0,
) -> tp.Any:
    depth = int(x.shape[-1])
    rates = base ** (-2 * np.arange(depth // 2) / depth)
    if positions is None:
        positions = chx.squeeze(_positions(x, -2), -1)
    angles = chx.expand_dims(positions, -1).astype('float64') + float(offset)
    angles = angles * chx.array(rates)
    dtype = 'float64' if x.dtype.name == 'float64' else 'float32'
    sin, cos = chx.sin(angles).astype(dtype), chx.cos(angles).astype(dtype)
    a = x.astype(dtype, copy=False)
    if interleaved:
        first, second = a[..., 0::2], a[..., 1::2]
    else:
        first, second = a[..., : depth // 2], a[..., depth // 2 :]
    turned = first * cos - second * sin, second * cos + first * sin
    if interleaved:
        return chx.reshape(chx.stack(turned, -1), x.shape)
    return chx.concatenate(turned, -1)
