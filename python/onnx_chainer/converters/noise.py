"""Noise, which a runtime draws anew in each run, unless the model was given it."""

from __future__ import annotations

import numpy as np
from chainerx.onnx._terms import Term

from onnx_chainer.converters._registry import Conversion, converts


def _uniform(g: Conversion, like: str, low: float = 0.0, high: float = 1.0) -> str:
    """Numbers in the shape and dtype of a value."""
    return g.op('RandomUniformLike', [like], low=float(low), high=float(high))


def _given(g: Conversion, name: str) -> str | None:
    """The array that the model gave as an attribute, if it did."""
    return g.value_of(getattr(g.func, name), name) if name in g.params.given else None


@converts('Dropout')
def dropout(g: Conversion) -> str:
    if (mask := _given(g, 'mask')) is not None:
        return g.op('Mul', [g.x[0], mask])
    return dropped(g, g.x[0], float(g.func.dropout_ratio))


def dropped(g: Conversion, x: str, ratio: float) -> str:
    """Leaves elements out at random; before version 12 runtimes do so only where they train."""
    if g.opset < 12:
        return g.op('Dropout', [x], ratio=ratio)
    name = g.const(ratio, 'ratio', np.float32)
    return g.op('Dropout', [x, name, g.const(True, 'training', bool)])


@converts('RReLU')
def rrelu(g: Conversion) -> str:
    f = g.func
    if not g.train:
        return g.op('LeakyRelu', g.x, alpha=(f.lower + f.upper) / 2)
    slope = _given(g, 'r')
    return g.op('PRelu', [g.x[0], slope or _uniform(g, g.x[0], f.lower, f.upper)])


@converts('Gaussian')
def gaussian(g: Conversion) -> str:
    mean, ln_var = g.term(0), g.term(1)
    eps = _given(g, 'eps')
    if eps is None:
        eps = g.op('RandomNormalLike', [mean.name])
        for array in g.wanted():
            g.context.know_array(array, eps)
    return (mean + (ln_var * 0.5).exp() * Term(g, eps, g.dtype(0))).name


@converts('_Gumbel')
def gumbel(g: Conversion) -> str:
    u = Term(g, _uniform(g, g.x[0]), g.dtype(0))
    return (-(-u.log()).log()).name


@converts('Zoneout')
def zoneout(g: Conversion) -> str:
    h, x = g.x
    flag = _given(g, 'flag_h')
    if flag is None:
        flag = (Term(g, _uniform(g, h), g.dtype(0)) < float(g.func.zoneout_ratio)).name
    return g.where(flag, h, x)


@converts('SimplifiedDropconnect')
def simplified_dropconnect(g: Conversion) -> str:
    f, dtype = g.func, g.dtype(0)
    x = g.op('Flatten', [g.x[0]], axis=1) if len(g.shape(0)) > 2 else g.x[0]
    weights = g.term(1).cast(dtype)
    mask = _given(g, 'mask')
    ndim = f.mask.ndim if mask is not None else 3 if f.use_batchwise_mask else 2
    if mask is not None:
        weights = weights * Term(g, mask, f.mask.dtype).cast(dtype)
    elif f.ratio:
        like = weights.name
        if ndim == 3:
            g.need(8, 'Expand')
            count = g.concat([g.length_of(x, 0), g.ints([1, 1])])
            like = g.op('Expand', [g.unsqueeze(like, [0]), count])
        is_kept = ~(Term(g, _uniform(g, like), dtype) < float(f.ratio))
        weights = weights * is_kept.cast(dtype)
    else:
        ndim = 2
    if f.ratio:
        weights = weights * (1 / (1 - f.ratio))
    if ndim == 3:
        y = g.squeeze(g.op('MatMul', [weights.name, g.unsqueeze(x, [2])]), [2])
    else:
        y = g.op('MatMul', [x, g.transpose(weights.name, [1, 0])])
    return g.op('Add', [y, g.x[2]]) if g.has(2) else y
