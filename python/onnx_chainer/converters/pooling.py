"""Poolings."""

from __future__ import annotations

import typing as tp

import numpy as np
from chainerx.onnx._index import LAST
from chainerx.onnx._terms import Term
from chainerx.onnx._windows import more_at_the_end

from onnx_chainer.converters._registry import Conversion, converts
from onnx_chainer.converters.array import upsample


def _pool(
    g: Conversion,
    op: str,
    window: tp.Sequence[int],
    stride: tp.Sequence[int],
    pad: tp.Sequence[int],
    n_outputs: int = 1,
    **kwargs: tp.Any,
) -> tp.Any:
    lengths = g.lengths(0)[2:]
    is_whole = n_outputs == 1 and tuple(window) == g.shape(0)[2:] and not any(pad)
    if is_whole and lengths and not any(isinstance(n, int) for n in lengths):
        # A window of x.shape[2:] is as large as the image is.
        return g.op(f'Global{op}', g.x)
    x, starts, needs_ceil = g.x[0], list(pad), False
    if any(not isinstance(n, int) for n in lengths):
        needs_ceil = bool(getattr(g.func, 'cover_all', False))
    ends = [
        p + more_at_the_end(n, k, s, p, p, out)
        for n, k, s, p, out in zip(
            g.shape(0)[2:], window, stride, pad, g.out_shape()[2:], strict=True
        )
    ]
    # Runtimes refuse a padding that is as long as the window.
    is_long = any(max(p, end) >= k for p, end, k in zip(pad, ends, window, strict=True))
    if needs_ceil:
        for axis, (k, s) in enumerate(zip(window, stride, strict=True), 2):
            if s > k:  # the last window may be outside of the image
                g.fixed(0, axis, 'cover_all')
        g.need(10, 'ceil_mode of pooling')
        ends = list(pad)
        kwargs['ceil_mode'] = 1
    elif is_long:
        if n_outputs > 1 or not kwargs.get('count_include_pad', 1):
            raise ValueError(f'{g.label}: ONNX has no windows that are outside of the image')
        border = -np.inf if op == 'MaxPool' else 0
        x = g.pad(x, [0, 0, *pad, 0, 0, *ends], border, g.dtype(0))
        starts = ends = [0] * len(window)
    return g.op(
        op,
        [x],
        n_outputs,
        kernel_shape=list(window),
        strides=list(stride),
        pads=[*starts, *ends],
        **kwargs,
    )


@converts('MaxPoolingND')
def max_pooling_nd(g: Conversion) -> str:
    f = g.func
    wanted = g.wanted()
    if wanted:
        g.need(8, 'indices of MaxPool')
    found = _pool(g, 'MaxPool', f.ksize, f.stride, f.pad, 1 + bool(wanted))
    if not wanted:
        return found
    y, places = found
    name = _in_windows(g, places)
    for x in wanted:
        g.context.know_array(x, name)
    return y


def _in_windows(g: Conversion, places: str) -> str:
    """Numbers of elements within their windows, of numbers within all images."""
    f, sizes, outs = g.func, g.shape(0)[2:], g.out_shape()[2:]
    for axis in range(2, 2 + len(sizes)):
        g.fixed(0, axis, 'indices')
    rest = Term(g, places, np.int64)
    number = None
    step = 1
    for axis in reversed(range(len(sizes))):
        n, k = sizes[axis], f.ksize[axis]
        quotient = rest / n
        at = rest - quotient * n
        rest = quotient
        begins = np.arange(outs[axis]) * f.stride[axis] - f.pad[axis]
        begins = begins.reshape(-1, *[1] * (len(sizes) - 1 - axis))
        part = (at - Term(g, g.const(begins, 'begins', np.int64), np.int64)) * step
        number = part if number is None else number + part
        step *= k
    return tp.cast(Term, number).name


@converts('AveragePooling2D')
def average_pooling_2d(g: Conversion) -> str:
    f = g.func
    return _pool(g, 'AveragePool', (f.kh, f.kw), (f.sy, f.sx), (f.ph, f.pw), count_include_pad=1)


@converts('AveragePoolingND')
def average_pooling_nd(g: Conversion) -> str:
    f = g.func
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
    shape, outs = g.shape(0), g.out_shape()[2:]
    g.hint([*g.lengths(0)[:2], *[None] * len(window)])
    whole = [(n - 1) * s + k for n, s, k in zip(shape[2:], stride, window, strict=True)]
    if tuple(window) == tuple(stride):
        y = upsample(g, g.x[0], [1.0, 1.0, *map(float, window)])
    else:
        weight = g.like(np.ones((shape[1], 1, *window)))
        y = g.op('ConvTranspose', [g.x[0], weight], strides=list(stride), group=shape[1])
    return _cropped(g, y, whole, outs, pad)


def _cropped(
    g: Conversion, y: str, whole: tp.Sequence[int], outs: tp.Sequence[int], pad: tp.Sequence[int]
) -> str:
    """Images without their padding, and with zeros behind where they are to be larger."""
    missing = [p + out - n for n, out, p in zip(whole, outs, pad, strict=True)]
    axes = [i for i, (p, more) in enumerate(zip(pad, missing, strict=True)) if p or more < 0]
    # Counted from the end, so that axes may have other lengths.
    ends = [min(missing[i], 0) or LAST for i in axes]
    y = g.slice(y, [pad[i] for i in axes], ends, [2 + i for i in axes])
    if any(more > 0 for more in missing):
        ahead = [0] * (2 + len(pad))
        y = g.pad(y, [*ahead, 0, 0, *(max(more, 0) for more in missing)], 0, g.dtype(0))
    return y


@converts('Upsampling2D')
def upsampling_2d(g: Conversion) -> str:
    f, shape = g.func, g.shape(0)
    g.need(11, 'ScatterElements')
    is_overlapping = f.kh > f.sy or f.kw > f.sx
    if is_overlapping:
        g.need(16, 'a reduction of ScatterElements')
    for axis in (2, 3):
        g.fixed(0, axis)
    whole = [(shape[2] - 1) * f.sy + f.kh, (shape[3] - 1) * f.sx + f.kw]
    rows, columns = np.arange(shape[2]) * f.sy, np.arange(shape[3]) * f.sx
    begins = g.const(rows[:, None] * whole[1] + columns, 'begins', np.int64)
    at = Term(g, g.value_of(f.indexes, 'indexes'), f.indexes.dtype).cast(np.int64)
    row = at / f.kw
    places = Term(g, begins, np.int64) + row * whole[1] + (at - row * f.kw)
    sizes = g.concat([g.lengths_of(g.x[0], 0, 2), g.ints([whole[0] * whole[1]])])
    y = g.op(
        'ScatterElements',
        [
            g.op('Expand', [g.like(0), sizes]),
            g.reshape(places.name, [0, 0, -1]),
            g.reshape(g.x[0], [0, 0, -1]),
        ],
        axis=2,
        reduction='add' if is_overlapping else None,
    )
    return _cropped(g, g.reshape(y, [0, 0, *whole]), whole, g.out_shape()[2:], (f.ph, f.pw))
