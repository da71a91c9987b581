"""Poolings."""

from __future__ import annotations

import math
import typing as tp

import numpy as np

import chainerx as chx
from chainerx.onnx._routine import Operand, RoutineWriter, Typed, composed, row
from chainerx.onnx._rows.conv import transposed
from chainerx.onnx._symbols import Length
from chainerx.onnx._windows import more_at_the_end, pairs_of, per_axis


def _pool(
    g: RoutineWriter,
    op: str,
    x: Operand,
    ksize: tp.Any,
    stride: tp.Any,
    pad: tp.Any,
    cover_all: bool,
    n_outputs: int = 1,
    **kwargs: tp.Any,
) -> tp.Any:
    n = x.ndim - 2
    window = per_axis(ksize, n)
    strides = window if stride is None else per_axis(stride, n)
    begins, ends = pairs_of(pad, n)
    first = list(ends)
    needs_ceil = cover_all and any(isinstance(m, Length) for m in x.shape[2:])
    for i, length in enumerate(x.shape[2:]):
        out = int(g.outs[0].shape[2 + i])
        if cover_all:
            ends[i] += more_at_the_end(int(length), window[i], strides[i], begins[i], ends[i], out)
        # Runtimes refuse a padding that is as long as the window.
        needs_ceil |= ends[i] >= window[i] and ends[i] > first[i]
        if begins[i] >= window[i] or first[i] >= window[i]:
            g.lacks(f'padding of {first[i]} for a window of {window[i]}')
    if needs_ceil:
        g.need(10, 'ceil_mode of pooling')
        ends = first
        kwargs['ceil_mode'] = 1
    work = g.work_dtype(op, g.dtype)
    found = g.op(
        op,
        [g.to(x, work)],
        n_outputs,
        kernel_shape=window,
        strides=strides,
        pads=[*begins, *ends],
        **kwargs,
    )
    return Typed(found, work) if n_outputs == 1 else (Typed(found[0], work), *found[1:])


@row('max_pool')
def _(
    g: RoutineWriter,
    x: Operand,
    ksize: tp.Any,
    stride: tp.Any = None,
    pad: tp.Any = 0,
    cover_all: bool = False,
    return_indices: bool = False,
) -> tp.Any:
    if return_indices:
        g.lacks('positions within windows of MaxPool')
    return _pool(g, 'MaxPool', x, ksize, stride, pad, cover_all)


@row('average_pool')
def _(
    g: RoutineWriter,
    x: Operand,
    ksize: tp.Any,
    stride: tp.Any = None,
    pad: tp.Any = 0,
    pad_mode: str = 'ignore',
    cover_all: bool = False,
) -> tp.Any:
    if cover_all:
        return _covering_mean(g, x, ksize, stride, pad, pad_mode)
    return _pool(
        g,
        'AveragePool',
        x,
        ksize,
        stride,
        pad,
        False,
        count_include_pad=int(pad_mode == 'zero'),
    )


def _covering_mean(
    g: RoutineWriter, x: Operand, ksize: tp.Any, stride: tp.Any, pad: tp.Any, pad_mode: str
) -> tp.Any:
    """Sums of windows, by what each has of the input."""
    n = x.ndim - 2
    window = per_axis(ksize, n)
    strides = window if stride is None else per_axis(stride, n)
    begins, ends = pairs_of(pad, n)
    counts = np.ones([1] * x.ndim)
    pads = list(ends)
    for i, length in enumerate(x.shape[2:]):
        if isinstance(length, Length):
            g.lacks('cover_all of AveragePool along an open axis')
        out = int(g.outs[0].shape[2 + i])
        pads[i] += more_at_the_end(length, window[i], strides[i], begins[i], ends[i], out)
        starts = np.arange(out) * strides[i] - begins[i]
        seen = np.minimum(starts + window[i], length) - np.maximum(starts, 0)
        if pad_mode == 'zero':
            seen = np.full(out, window[i])
        shape = [1] * x.ndim
        shape[2 + i] = out
        counts = counts * np.maximum(seen, 0).reshape(shape)
    work = g.work_dtype('AveragePool', g.dtype)
    name = g.pad(g.to(x, work), [0, 0, *begins, 0, 0, *pads], 0, work)
    mean = g.op('AveragePool', [name], kernel_shape=window, strides=strides)
    scale = math.prod(window) / np.where(counts == 0, 1, counts)
    return Typed(g.op('Mul', [mean, g.const(scale, 'scale', work)]), work)


@composed('global_average_pool')
def _(x: tp.Any) -> tp.Any:
    return chx.mean(x, tuple(range(2, x.ndim)), keepdims=True)


@composed('global_max_pool')
def _(x: tp.Any) -> tp.Any:
    return chx.amax(x, tuple(range(2, x.ndim)), keepdims=True)


def _adaptive(x: tp.Any, output_size: tp.Any, reduce: tp.Any) -> tp.Any:
    sizes = per_axis(output_size, x.ndim - 2)
    for i, m in enumerate(sizes, 2):
        n = x.shape[i]
        if m == 0:
            x = x[(slice(None),) * i + (slice(0, 0),)]
            continue
        if m == 1:
            x = reduce(x, i, keepdims=True)
            continue
        if isinstance(n, Length):
            raise TypeError('export: adaptive pooling of an open axis has several parts')
        at = (slice(None),) * i
        parts = [
            reduce(x[(*at, slice(k * n // m, -(-(k + 1) * n // m)))], i, keepdims=True)
            for k in range(m)
        ]
        x = chx.concatenate(parts, i)
    return x


@composed('adaptive_average_pool')
def _(x: tp.Any, output_size: tp.Any) -> tp.Any:
    return _adaptive(x, output_size, chx.mean)


@composed('adaptive_max_pool')
def _(x: tp.Any, output_size: tp.Any) -> tp.Any:
    return _adaptive(x, output_size, chx.amax)


@row('unpool')
def _(
    g: RoutineWriter,
    x: Operand,
    ksize: tp.Any,
    stride: tp.Any = None,
    pad: tp.Any = 0,
    outsize: tp.Any = None,
    cover_all: bool = False,
) -> Typed:
    window = per_axis(ksize, x.ndim - 2)
    channels = int(x.shape[1])
    if not channels:
        g.lacks('ConvTranspose without channels')
    ones = g.const(np.ones((channels, 1, *window)), 'ones', g.dtype)
    xs = [x, Typed(ones, g.dtype), None]
    strides = window if stride is None else stride
    sizes = g.outs[0].shape[2:]
    return transposed(g, xs, window, strides, pad, sizes, 1, channels)


@composed('max_unpool')
def _(
    x: tp.Any,
    indices: tp.Any,
    ksize: tp.Any,
    stride: tp.Any = None,
    pad: tp.Any = 0,
    outsize: tp.Any = None,
    cover_all: bool = False,
) -> tp.Any:
    raise TypeError('export: max_unpool: ONNX has no operator for positions within windows')
