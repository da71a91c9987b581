"""`F.pad`."""

from __future__ import annotations

import typing as tp

import numpy as np

from onnx_chainer.converters._registry import Conversion, converts


@converts('Pad')
def pad(g: Conversion) -> str:
    mode, shape = g.func.mode, g.shape(0)
    width = np.broadcast_to(np.asarray(g.func.pad_width), (len(shape), 2))
    options = dict(g.func.keywords)
    if mode in ('constant', 'empty'):
        return _constant(g, width, options.get('constant_values', 0))
    is_short = all(max(w) < n for w, n in zip(width.tolist(), shape, strict=True))
    is_even = options.get('reflect_type', 'even') == 'even'
    if mode == 'edge' or (mode == 'reflect' and is_short and is_even):
        return g.pad(g.x[0], width.T.ravel().tolist(), 0, g.dtype(0), mode)
    y = g.x[0]
    for axis, ends in enumerate(width.tolist()):
        if any(ends):
            y = _along(g, y, axis, tuple(ends), mode, is_even, options)
    return y


def _constant(g: Conversion, width: np.ndarray, values: tp.Any) -> str:
    y = g.x[0]
    values = np.broadcast_to(np.asarray(values), width.shape)
    if (values == values.flat[0]).all():
        return g.pad(y, width.T.ravel().tolist(), values.flat[0], g.dtype(0))
    for axis, end in np.ndindex(*width.shape):
        pads = np.zeros_like(width)
        pads[axis, end] = width[axis, end]
        y = g.pad(y, pads.T.ravel().tolist(), values[axis, end], g.dtype(0))
    return y


def _along(
    g: Conversion,
    x: str,
    axis: int,
    ends: tuple[int, int],
    mode: str,
    is_even: bool,
    options: dict[str, tp.Any],
) -> str:
    n = g.fixed(0, axis, f'mode {mode!r}')
    if mode in ('symmetric', 'wrap', 'reflect') and is_even:
        places = np.pad(np.arange(n), ends, tp.cast(tp.Any, mode))
        return g.op('Gather', [x, g.ints(places, 'indices')], axis=axis)
    if mode not in ('maximum', 'minimum') and g.dtype(0).kind != 'f':
        raise ValueError(f'Pad: mode {mode!r} is written for floats, x has {g.dtype(0)}')
    if mode in ('maximum', 'minimum', 'median'):
        return _with_order(g, x, axis, ends, mode, _of_axis(options.get('stat_length'), g, axis))
    # What is left is linear in x, but for the values at the ends of ramps.
    kwargs = {name: _of_axis(value, g, axis) for name, value in options.items()}
    if 'reflect_type' in options:
        kwargs['reflect_type'] = options['reflect_type']
    ramp = {} if 'end_values' not in kwargs else {'end_values': 0}
    matrix = np.pad(np.eye(n), [(0, 0), ends], tp.cast(tp.Any, mode), **(kwargs | ramp))
    last = len(g.shape(0)) - 1
    order = [i for i in range(last + 1) if i != axis] + [axis]
    y = g.op('MatMul', [g.transpose(x, order), g.like(matrix)])
    if ramp:
        y = g.op('Add', [y, g.like(np.pad(np.zeros(n), ends, 'linear_ramp', **kwargs))])
    return g.transpose(y, [order.index(i) for i in range(last + 1)])


def _of_axis(option: tp.Any, g: Conversion, axis: int) -> tp.Any:
    """What an option is for the beginning and end of an axis."""
    if option is None or isinstance(option, str):
        return option
    return tuple(np.broadcast_to(np.asarray(option), (len(g.shape(0)), 2))[axis].tolist())


def _with_order(
    g: Conversion, x: str, axis: int, ends: tuple[int, int], mode: str, lengths: tp.Any
) -> str:
    """With the largest, smallest or middle elements of each end."""
    n = g.shape(0)[axis]
    first, last = (n, n) if lengths is None else (min(length, n) for length in lengths)
    parts = [x]
    for count, begin, end in ((ends[0], 0, first), (ends[1], n - last, n)):
        part = g.slice(x, [begin], [end], [axis])
        if mode == 'median':
            part = _middle(g, part, axis, end - begin)
        kind = {'maximum': 'Max', 'minimum': 'Min', 'median': 'Mean'}[mode]
        best = g.reduce(kind, part, [axis], keepdims=True)
        parts.append(g.op('Gather', [best, g.ints([0] * count)], axis=axis))
    return g.concat([parts[1], parts[0], parts[2]], axis)


def _middle(g: Conversion, x: str, axis: int, n: int) -> str:
    """The two elements in the middle of an axis, in their order; one twice if n is odd."""
    g.need(11, 'TopK')
    values, _ = g.op('TopK', [x, g.ints([n])], 2, axis=axis)
    return g.op('Gather', [values, g.ints([(n - 1) // 2, n // 2])], axis=axis)
