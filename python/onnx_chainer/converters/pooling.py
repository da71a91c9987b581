"""Poolings."""

from __future__ import annotations

import typing as tp

from onnx_chainer.converters._registry import Conversion, converts
from onnx_chainer.converters.array import upsample
from onnx_chainer.converters.connection import more_at_the_end


def _pool(
    g: Conversion,
    op: str,
    window: tp.Sequence[int],
    stride: tp.Sequence[int],
    pad: tp.Sequence[int],
    **kwargs: tp.Any,
) -> str:
    lengths = g.lengths(0)[2:]
    is_whole = tuple(window) == g.shape(0)[2:] and not any(pad)
    if is_whole and lengths and not any(isinstance(n, int) for n in lengths):
        # A window of x.shape[2:] is as large as the image is.
        return g.op(f'Global{op}', g.x)
    ends, needs_ceil = [], False
    if any(not isinstance(n, int) for n in lengths):
        needs_ceil = bool(getattr(g.func, 'cover_all', False))
    for n, k, s, p, out in zip(g.shape(0)[2:], window, stride, pad, g.out_shape()[2:], strict=True):
        more = more_at_the_end(n, k, s, p, out)
        # Runtimes refuse a padding that is as long as the window.
        needs_ceil |= p + more >= k
        ends.append(p + more)
    if needs_ceil:
        g.need(10, 'ceil_mode of pooling')
        ends = list(pad)
        kwargs['ceil_mode'] = 1
    return g.op(
        op, g.x, kernel_shape=list(window), strides=list(stride), pads=[*pad, *ends], **kwargs
    )


@converts('MaxPooling2D')
def max_pooling_2d(g: Conversion) -> str:
    f = g.func
    return _pool(g, 'MaxPool', (f.kh, f.kw), (f.sy, f.sx), (f.ph, f.pw))


@converts('MaxPoolingND')
def max_pooling_nd(g: Conversion) -> str:
    f = g.func
    return _pool(g, 'MaxPool', f.ksize, f.stride, f.pad)


@converts('AveragePooling2D')
def average_pooling_2d(g: Conversion) -> str:
    f = g.func
    return _pool(g, 'AveragePool', (f.kh, f.kw), (f.sy, f.sx), (f.ph, f.pw), count_include_pad=1)


@converts('AveragePoolingND')
def average_pooling_nd(g: Conversion) -> str:
    f = g.func
    if f.pad_value not in (0, None):
        raise ValueError(f'AveragePoolingND: ONNX has no pad_value of {f.pad_value}')
    return _pool(
        g, 'AveragePool', f.ksize, f.stride, f.pad, count_include_pad=int(f.pad_value == 0)
    )


@converts('Unpooling2D')
def unpooling_2d(g: Conversion) -> str:
    f = g.func
    return _unpool(g, (f.kh, f.kw), (f.sy, f.sx), (f.ph, f.pw))


@converts('UnpoolingND')
def unpooling_nd(g: Conversion) -> str:
    return _unpool(g, g.func.ksize, g.func.stride, g.func.pad)


def _unpool(
    g: Conversion, window: tp.Sequence[int], stride: tp.Sequence[int], pad: tp.Sequence[int]
) -> str:
    shape, outs = g.shape(0), g.out_shape()
    if tuple(window) != tuple(stride) or any(pad):
        raise ValueError(
            f'{g.func.label}: windows that overlap or are padded have no operator; '
            f'ksize is {tuple(window)}, stride {tuple(stride)}, pad {tuple(pad)}'
        )
    g.hint([*g.lengths(0)[:2], *[None] * len(window)])
    y = upsample(g, g.x[0], [1.0, 1.0, *map(float, window)])
    axes = [i for i in range(2, len(shape)) if outs[i] < shape[i] * window[i - 2]]
    # Counted from the end, so that axes may have other lengths.
    ends = [outs[i] - shape[i] * window[i - 2] for i in axes]
    return g.slice(y, [0] * len(axes), ends, axes)


@converts('ROIPooling2D')
def roi_pooling_2d(g: Conversion) -> str:
    f = g.func
    return g.op(
        'MaxRoiPool',
        g.x,
        pooled_shape=[f.outh, f.outw],
        spatial_scale=float(f.spatial_scale),
    )
