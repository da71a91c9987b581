"""Functions with weights."""

from __future__ import annotations

import typing as tp

import numpy as np
from chainerx.onnx._windows import more_at_the_end

from onnx_chainer.converters._registry import Conversion, converts


def _geometry(g: Conversion) -> tuple[tp.Sequence[int], tp.Sequence[int], tp.Sequence[int]]:
    """Stride, padding and dilation of each axis."""
    f = g.func
    if type(f).__name__.endswith('ND'):
        return f.stride, f.pad, f.dilate
    return (f.sy, f.sx), (f.ph, f.pw), (f.dy, f.dx)


@converts('Convolution2DFunction', 'ConvolutionND')
def convolution(g: Conversion) -> str:
    stride, pad, dilate = _geometry(g)
    window = g.shape(1)[2:]
    if g.func.cover_all:
        for axis in range(2, 2 + len(window)):
            g.fixed(0, axis, 'cover_all')
    ends = [
        p + more_at_the_end(n, k, s, p, p, out, d)
        for n, k, s, p, out, d in zip(
            g.shape(0)[2:], window, stride, pad, g.out_shape()[2:], dilate, strict=True
        )
    ]
    return g.op(
        'Conv',
        g.x,
        kernel_shape=list(window),
        strides=list(stride),
        pads=[*pad, *ends],
        dilations=list(dilate),
        group=g.func.groups,
    )


@converts('Deconvolution2DFunction', 'DeconvolutionND')
def deconvolution(g: Conversion) -> str:
    stride, pad, dilate = _geometry(g)
    window = g.shape(1)[2:]
    ends, added = [], []
    for axis, (n, k, s, p, out, d) in enumerate(
        zip(g.shape(0)[2:], window, stride, pad, g.out_shape()[2:], dilate, strict=True), 2
    ):
        more = out - ((n - 1) * s - 2 * p + d * (k - 1) + 1)
        if more:  # of an outsize
            g.fixed(0, axis, 'outsize')
        added.append(max(more, 0))
        ends.append(p - min(more, 0))
    return g.op(
        'ConvTranspose',
        g.x,
        kernel_shape=list(window),
        strides=list(stride),
        pads=[*pad, *ends],
        output_padding=added if any(added) else None,
        dilations=list(dilate),
        group=g.func.groups,
    )


@converts('LinearFunction')
def linear(g: Conversion) -> str:
    return _linear(g)


@converts('RectifiedLinear')
def rectified_linear(g: Conversion) -> str:
    return g.op('Relu', [_linear(g)])


def _linear(g: Conversion) -> str:
    x, w = g.x[:2]
    if len(g.shape(0)) > 2:
        x = g.op('Flatten', [x], axis=1)
    bias = g.x[2] if g.has(2) else ''
    if not bias and g.opset < 11:
        bias = g.const(np.zeros(g.shape(1)[0]), 'bias', g.dtype(1))
    return g.op('Gemm', [x, w, bias] if bias else [x, w], transB=1)


@converts('EmbedIDFunction')
def embed_id(g: Conversion) -> str:
    x, w = g.x
    if g.dtype(0).name not in ('int32', 'int64'):  # operators have no other indices
        x = g.cast(x, np.int64)
    dtype = np.int32 if g.dtype(0).name == 'int32' else np.int64
    ignored = g.func.ignore_label
    if ignored is None:
        return g.op('Gather', [w, x])
    is_ignored = g.op('Equal', [x, g.const(ignored, 'ignored', dtype)])
    rows = g.op('Gather', [w, g.where(is_ignored, g.const(0, 'zero', dtype), x)])
    mask = g.unsqueeze(is_ignored, [len(g.shape(0))])
    return g.where(mask, g.like(0, 1), rows)


@converts('BilinearFunction')
def bilinear(g: Conversion) -> str:
    if g.opset >= 12:
        y = g.op('Einsum', g.x[:3], equation='ni,nj,ijk->nk')
    else:
        pairs = g.op('Mul', [g.unsqueeze(g.x[0], [2]), g.unsqueeze(g.x[1], [1])])
        weights = g.reshape(g.x[2], [-1, g.shape(2)[2]])
        y = g.op('MatMul', [g.reshape(pairs, [0, -1]), weights])
    if not g.has(3):
        return y
    for i in range(2):
        y = g.op('Add', [y, g.op('MatMul', [g.x[i], g.x[3 + i]])])
    return g.op('Add', [y, g.x[5]])


@converts('LocalConvolution2DFunction')
def local_convolution_2d(g: Conversion) -> str:
    f, channels = g.func, g.shape(0)[1]
    outs, oh, ow, _, kh, kw = g.shape(1)
    taps = kh * kw
    # A convolution copies windows; then each place has a product of matrices.
    window = np.tile(np.eye(taps).reshape(taps, 1, kh, kw), (channels, 1, 1, 1))
    columns = g.op(
        'Conv',
        [g.x[0], g.like(window)],
        kernel_shape=[kh, kw],
        strides=[f.sy, f.sx],
        group=channels,
    )
    columns = g.slice(columns, [0, 0], [oh, ow], [2, 3])
    weights = g.reshape(g.transpose(g.x[1], [1, 2, 3, 4, 5, 0]), [oh, ow, channels * taps, outs])
    y = g.op('MatMul', [g.transpose(columns, [2, 3, 0, 1]), weights])
    y = g.transpose(y, [2, 3, 0, 1])
    return g.op('Add', [y, g.x[2]]) if g.has(2) else y
