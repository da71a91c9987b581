"""Convolutions."""

from __future__ import annotations

import typing as tp

from chainerx.onnx._routine import Operand, RoutineWriter, Typed, row
from chainerx.onnx._windows import more_at_the_end, pairs_of, per_axis


@row('conv')
def _(
    g: RoutineWriter,
    x: Operand,
    w: Operand,
    b: tp.Any = None,
    stride: tp.Any = 1,
    pad: tp.Any = 0,
    cover_all: bool = False,
    dilate: tp.Any = 1,
    groups: int = 1,
) -> Typed:
    window = [int(n) for n in w.shape[2:]]
    n = len(window)
    strides, dilations = per_axis(stride, n), per_axis(dilate, n)
    begins, ends = pairs_of(pad, n)
    if cover_all:
        for i, length in enumerate(x.shape[2:]):
            out = int(g.outs[0].shape[2 + i])
            ends[i] += more_at_the_end(
                int(length), window[i], strides[i], begins[i], ends[i], out, dilations[i]
            )
    work = g.work_dtype('Conv', g.dtype)
    y = g.op(
        'Conv',
        [g.to(v, work) for v in (x, w, b) if v is not None],
        kernel_shape=window,
        strides=strides,
        pads=[*begins, *ends],
        dilations=dilations,
        group=int(groups),
    )
    return Typed(y, work)


@row('conv_transpose')
def _(
    g: RoutineWriter,
    x: Operand,
    w: Operand,
    b: tp.Any = None,
    stride: tp.Any = 1,
    pad: tp.Any = 0,
    outsize: tp.Any = None,
    dilate: tp.Any = 1,
    groups: int = 1,
) -> Typed:
    window = [int(n) for n in w.shape[2:]]
    return transposed(g, [x, w, b], window, stride, pad, outsize, dilate, int(groups))


def transposed(
    g: RoutineWriter,
    xs: tp.Sequence[tp.Any],
    window: list[int],
    stride: tp.Any,
    pad: tp.Any,
    outsize: tp.Any,
    dilate: tp.Any,
    groups: int,
) -> Typed:
    """A transposed convolution, whose result may be longer or shorter at the ends."""
    n = len(window)
    strides, dilations = per_axis(stride, n), per_axis(dilate, n)
    begins, ends = pairs_of(pad, n)
    added = [0] * n
    for i, length in enumerate(xs[0].shape[2:]):
        if outsize is None:
            continue
        whole = (int(length) - 1) * strides[i] - begins[i] - ends[i]
        whole += dilations[i] * (window[i] - 1) + 1
        more = int(g.outs[0].shape[2 + i]) - whole
        added[i] = max(more, 0)
        ends[i] -= min(more, 0)
    work = g.work_dtype('ConvTranspose', g.dtype)
    y = g.op(
        'ConvTranspose',
        [g.to(v, work) for v in xs if v is not None],
        kernel_shape=window,
        strides=strides,
        pads=[*begins, *ends],
        output_padding=added if any(added) else None,
        dilations=dilations,
        group=groups,
    )
    return Typed(y, work)
