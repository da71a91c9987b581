"""Functions that read elements at computed or fixed places of memory."""

from __future__ import annotations

import math
import typing as tp

import numpy as np
from chainerx.onnx._index import LAST
from chainerx.onnx._terms import Term
from chainerx.onnx._windows import more_at_the_end

from onnx_chainer.converters._registry import Conversion, converts


@converts('Diagonal')
def diagonal(g: Conversion) -> str:
    f, shape = g.func, g.shape(0)
    ndim = len(shape)
    first, second = f.axis1 % ndim, f.axis2 % ndim
    rest = [i for i in range(ndim) if i not in (first, second)]
    rows, columns = shape[first], shape[second]
    places = np.arange(rows * columns).reshape(rows, columns).diagonal(f.offset)
    # Axes before the two keep their lengths.
    turned = g.transpose(g.x[0], [*rest, first, second])
    flat = g.reshape(turned, [*[0] * len(rest), rows * columns])
    return g.op('Gather', [flat, g.ints(places, 'indices')], axis=len(rest))


@converts('AsStrided')
def as_strided(g: Conversion) -> str:
    f = g.func
    places = np.full(f.shape, f.storage_offset or 0, np.int64)
    for axis, (n, stride) in enumerate(zip(f.shape, f.strides, strict=True)):
        row = np.arange(n) * stride
        places += row.reshape([-1 if i == axis else 1 for i in range(len(f.shape))])
    size = math.prod(g.shape(0))
    if places.size and (places.min() < 0 or places.max() >= size):
        raise ValueError('AsStrided: elements before or after those of the array')
    return g.op('Gather', [g.reshape(g.x[0], [-1]), g.const(places, 'indices')], axis=0)


@converts('Im2Col')
def im2col(g: Conversion) -> str:
    f, channels = g.func, g.shape(0)[1]
    n = f.kh * f.kw
    window = np.eye(n).reshape(n, 1, f.kh, f.kw)
    weight = g.like(np.tile(window, (channels, 1, 1, 1)))
    ends = [
        pad + more_at_the_end(length, k, stride, pad, pad, out, dilate)
        for length, k, stride, pad, out, dilate in zip(
            g.shape(0)[2:],
            (f.kh, f.kw),
            (f.sy, f.sx),
            (f.ph, f.pw),
            g.out_shape()[2:],
            (f.dy, f.dx),
            strict=True,
        )
    ]
    return g.op(
        'Conv',
        [g.x[0], weight],
        kernel_shape=[f.kh, f.kw],
        strides=[f.sy, f.sx],
        pads=[f.ph, f.pw, *ends],
        dilations=[f.dy, f.dx],
        group=channels,
    )


@converts('ScatterAdd')
def scatter_add(g: Conversion) -> str:
    g.need(16, 'a reduction of ScatterElements')
    a, b = g.x
    shape = g.shape(0)
    size = math.prod(shape)
    places = np.arange(size).reshape(shape)[g.func.slices].ravel()
    added = g.reshape(b if g.dtype(0) == g.dtype(1) else g.cast(b, g.dtype(0)), [-1])
    flat = g.op(
        'ScatterElements',
        [g.reshape(a, [-1]), g.ints(places, 'indices'), added],
        axis=0,
        reduction='add',
    )
    return g.reshape(flat, shape)


@converts('SpatialTransformerGrid')
def spatial_transformer_grid(g: Conversion) -> str:
    height, width = g.func.output_shape
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing='ij')
    points = np.stack([x.ravel(), y.ravel(), np.ones(height * width)])
    grid = g.op('MatMul', [g.x[0], g.like(points)])
    return g.reshape(grid, [0, 2, height, width])


@converts('SpatialTransformerSampler')
def spatial_transformer_sampler(g: Conversion) -> str:
    if g.opset < 16:
        return _sample_by_points(g)
    grid = g.transpose(g.x[1], [0, 2, 3, 1])
    mode = 'bilinear' if g.opset < 20 else 'linear'
    return g.op('GridSample', [g.x[0], grid], mode=mode, padding_mode='zeros', align_corners=1)


def _sample_by_points(g: Conversion) -> str:
    grid = g.wide(1)
    places = []
    for axis, name in zip((3, 2), g.split(grid.name, [1, 1], 1), strict=True):
        size = Term(g, g.squeeze(g.length_of(g.x[0], axis), [0]), np.int64)
        place = Term(g, g.squeeze(name, [1]), grid.dtype)
        places.append((place + 1) * (size - 1).cast(grid.dtype) * 0.5)
    y = points_of_images(g, places[1], places[0])
    return Term(g, g.transpose(y.name, [0, 3, 1, 2]), y.dtype).cast(g.out_dtype()).name


def points_of_images(g: Conversion, rows: Term, columns: Term) -> Term:
    """Values of input 0 between its pixels, 0 outside.

    Args:
        g (Conversion): The function.
        rows (Term): Where the points are, in pixels; (images, a, b).
        columns (Term): Likewise.

    Returns:
        Term: (images, a, b, channels), wide.
    """
    g.need(11, 'GatherND')
    wide = g.wide(0)
    images = g.transpose(wide.name, [0, 2, 3, 1])
    zero, one = (g.const(n, 'bound', np.int64) for n in (0, 1))
    count = g.op('Range', [zero, g.squeeze(g.length_of(g.x[0], 0), [0]), one])
    number = Term(g, g.unsqueeze(count, [1, 2]), np.int64)
    ends = []
    for axis in (2, 3):
        size = Term(g, g.squeeze(g.length_of(g.x[0], axis), [0]), np.int64)
        ends.append((size - 1).cast(rows.dtype))
    total = None
    # The four pixels around each point.
    for steps in np.ndindex(2, 2):
        weight, index = None, [number]
        for place, end, step in zip((rows, columns), ends, steps, strict=True):
            pixel = place.floor() + float(step)
            inside = ~(pixel < 0) & ~(pixel > end)
            share = inside.where(1 - (place - pixel).abs(), 0)
            weight = share if weight is None else weight * share
            index.append(pixel.op('Max', 0).op('Min', end).cast(np.int64))
        zeros = (index[0] + index[1] + index[2]) * 0
        parts = [g.unsqueeze((x + zeros).name, [3]) for x in index]
        found = Term(g, g.op('GatherND', [images, g.concat(parts, 3)]), wide.dtype)
        shown = Term(g, g.unsqueeze(tp.cast(Term, weight).name, [3]), rows.dtype)
        term = found * shown.cast(found.dtype)
        total = term if total is None else total + term
    return tp.cast(Term, total)


@converts('Shift')
def shift(g: Conversion) -> str:
    f = g.func
    channels = g.fixed(0, 1)
    offsets = [
        (f.dy * i, f.dx * j) for i in range(f.kh - 1, -1, -1) for j in range(f.kw - 1, -1, -1)
    ]
    # The last group and the channels that are left over stay in place.
    middle = len(offsets) // 2
    offsets[middle], offsets[-1] = offsets[-1], offsets[middle]
    size = channels // len(offsets)
    sizes = [size] * (len(offsets) - 1) + [channels - size * (len(offsets) - 1)]
    top, left = f.kh // 2 * f.dy, f.kw // 2 * f.dx
    padded = g.pad(g.x[0], [0, 0, top, left] * 2, 0, g.dtype(0))
    groups, begin = [], 0
    for n, (i, j) in zip(sizes, offsets, strict=True):
        if n:
            # Counted from the end, so that images may have other sizes.
            ends = [begin + n, i - 2 * top or LAST, j - 2 * left or LAST]
            groups.append(g.slice(padded, [begin, i, j], ends, [1, 2, 3]))
        begin += n
    return g.concat(groups, 1)


@converts('FFT')
def fft(g: Conversion) -> tuple[str, ...]:
    if g.opset < 17:
        return _fft_by_products(g)
    last = len(g.shape(0)) - 1
    parts = [g.unsqueeze(x, [last + 1]) for x in g.x]
    whole = g.concat(parts, last + 1)
    inverse = int(g.func.method == 'ifft')
    # Runtimes want a batch.
    lead = [0] if last == 0 else []
    whole, axis = g.unsqueeze(whole, lead), last + len(lead)
    if g.opset >= 20:
        y = g.op('DFT', [whole, '', g.const(axis, 'axis', np.int64)], inverse=inverse)
    else:
        y = g.op('DFT', [whole], axis=axis, inverse=inverse)
    y = g.squeeze(y, lead)
    return tuple(g.squeeze(part, [last + 1]) for part in g.split(y, [1, 1], last + 1))


def _fft_by_products(g: Conversion) -> tuple[str, str]:
    """The sums of the definition, with a matrix of cosines and one of sines."""
    n = g.fixed(0, -1)
    angle = 2 * np.pi * (np.outer(np.arange(n), np.arange(n)) % n) / n
    is_inverse = g.func.method == 'ifft'
    scale = 1 / n if is_inverse else 1
    sign = 1 if is_inverse else -1
    real, imaginary = g.term(0), g.term(1)
    cosine, sine = (
        Term(g, g.like(matrix * scale), real.dtype)
        for matrix in (np.cos(angle), sign * np.sin(angle))
    )
    first = real.op('MatMul', cosine) - imaginary.op('MatMul', sine)
    return first.name, (real.op('MatMul', sine) + imaginary.op('MatMul', cosine)).name


@converts('DeformableConvolution2DSampler')
def deformable_convolution_2d_sampler(g: Conversion) -> str:
    if g.opset < 19:
        return _deformable_by_points(g)
    f = g.func
    kh, kw = g.shape(2)[2:]
    taps = kh * kw
    # All steps across, then all down, here; the two of each tap there, down first.
    order = np.stack([np.arange(taps) + taps, np.arange(taps)], 1).ravel()
    offset = g.op('Gather', [g.x[1], g.ints(order, 'order')], axis=1)
    bias = [g.x[3]] if g.has(3) else []
    return g.op(
        'DeformConv',
        [g.x[0], g.x[2], offset, *bias],
        kernel_shape=[kh, kw],
        strides=list(f.stride),
        pads=list(f.pad) * 2,
    )


def _deformable_by_points(g: Conversion) -> str:
    f, (outs, channels, kh, kw) = g.func, g.shape(2)
    rows, columns = g.fixed(1, 2), g.fixed(1, 3)
    taps = kh * kw
    at = np.indices((kh, kw, rows, columns))
    places = []
    for i, (step, pad) in enumerate(zip(f.stride, f.pad, strict=True)):
        begin = (at[i] + at[2 + i] * step - pad).reshape(1, taps, rows, columns)
        # All steps across come first.
        offset = g.slice(g.wide(1).name, [(1 - i) * taps], [(2 - i) * taps], [1])
        dtype = g.wide(1).dtype
        place = Term(g, offset, dtype) + Term(g, g.const(begin, 'places', dtype), dtype)
        places.append(Term(g, g.reshape(place.name, [0, -1, columns]), dtype))
    points = points_of_images(g, places[0], places[1])
    by_tap = g.reshape(points.name, [0, taps, rows, columns, channels])
    features = g.transpose(by_tap, [0, 2, 3, 1, 4])
    features = g.reshape(features, [0, rows, columns, taps * channels])
    weight = g.reshape(g.transpose(g.wide(2).name, [2, 3, 1, 0]), [taps * channels, outs])
    y = Term(g, features, points.dtype).op('MatMul', Term(g, weight, points.dtype))
    if g.has(3):
        y = y + g.wide(3)
    return Term(g, g.transpose(y.name, [0, 3, 1, 2]), y.dtype).cast(g.out_dtype()).name
