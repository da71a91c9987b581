"""Convolutions. Larger ones, for blocked kernels, are in test_conv.py."""

import itertools
import math

import numpy as np
from cases._table import BOOL, REAL, Case, call, f


def per_axis(value, axes):
    return (value,) * axes if isinstance(value, int) else tuple(value)


def pairs(pad, axes):
    return tuple((p, p) if isinstance(p, int) else tuple(p) for p in per_axis(pad, axes))


def windows(x, w, stride=1, pad=0, cover_all=False, dilate=1, groups=1):
    """A view (n, groups, ins / groups, outputs, windows) of the padded input."""
    axes = x.ndim - 2
    stride, dilate, pad = per_axis(stride, axes), per_axis(dilate, axes), pairs(pad, axes)
    window = [d * (k - 1) + 1 for k, d in zip(w.shape[2:], dilate, strict=True)]
    padded = [n + sum(p) for n, p in zip(x.shape[2:], pad, strict=True)]
    out, more = [], []
    for n, k, s in zip(padded, window, stride, strict=True):
        out.append((n - k + (s - 1 if cover_all else 0)) // s + 1)
        more.append(max(0, (out[-1] - 1) * s + k - n))
    pad = [(before, after + m) for (before, after), m in zip(pad, more, strict=True)]
    x = np.pad(x, [(0, 0), (0, 0), *pad])
    view = np.lib.stride_tricks.sliding_window_view(x, window, tuple(range(2, x.ndim)))
    steps = [slice(None, n * s, s) for n, s in zip(out, stride, strict=True)]
    view = view[(..., *steps, *(slice(None, None, d) for d in dilate))]
    return view.reshape(x.shape[0], groups, w.shape[1], *out, *w.shape[2:])


def conv(x, w, b=None, stride=1, pad=0, cover_all=False, dilate=1, groups=1):
    view = windows(x, w, stride, pad, cover_all, dilate, groups)
    axes = x.ndim - 2
    o, k = 'opqrstuv'[:axes], 'OPQRSTUV'[:axes]
    w = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])
    large = view.size > 10**5
    y = np.einsum(f'ngi{o}{k},gji{k}->ngj{o}', view, w, optimize=large)
    y = y.reshape(len(x), groups * w.shape[1], *view.shape[3 : 3 + axes])
    return y if b is None else y + b.reshape(-1, *[1] * axes)


def weight_gradient(x, gy, w, stride=1, pad=0, cover_all=False, dilate=1, groups=1):
    view = windows(x, w, stride, pad, cover_all, dilate, groups)
    axes = x.ndim - 2
    o, k = 'opqrstuv'[:axes], 'OPQRSTUV'[:axes]
    gy = gy.reshape(len(x), groups, -1, *gy.shape[2:])
    gw = np.einsum(f'ngi{o}{k},ngj{o}->gji{k}', view, gy, optimize=True)
    return gw.reshape(w.shape)


def conv_transpose(x, w, b=None, stride=1, pad=0, outsize=None, dilate=1, groups=1):
    """Each element of the input adds a window to the output."""
    axes = x.ndim - 2
    stride, dilate, pad = per_axis(stride, axes), per_axis(dilate, axes), pairs(pad, axes)
    n, ins = x.shape[:2]
    shape = x.shape[2:]
    window = [d * (k - 1) + 1 for k, d in zip(w.shape[2:], dilate, strict=True)]
    whole = [s * (m - 1) + k for m, s, k in zip(shape, stride, window, strict=True)]
    out = [m - sum(p) for m, p in zip(whole, pad, strict=True)]
    if outsize is not None:
        out = per_axis(outsize, axes)
    room = [max(m, p[0] + size) for m, p, size in zip(whole, pad, out, strict=True)]
    y = np.zeros((n, groups, w.shape[1], *room), np.result_type(x, w))
    flat = x.reshape(n, groups, ins // groups, math.prod(shape))
    w = w.reshape(groups, ins // groups, *w.shape[1:])
    for tap in itertools.product(*map(range, w.shape[3:])):
        place = [
            slice(t * d, t * d + s * (m - 1) + 1, s)
            for t, d, s, m in zip(tap, dilate, stride, shape, strict=True)
        ]
        part = w[(..., *tap)].swapaxes(1, 2) @ flat
        y[(..., *place)] += part.reshape(n, groups, w.shape[2], *shape)
    y = y[(..., *(slice(p[0], p[0] + m) for p, m in zip(pad, out, strict=True)))]
    y = y.reshape(n, groups * w.shape[2], *out)
    return y if b is None else y + b.reshape(-1, *[1] * axes)


CASES = [
    Case(
        'conv',
        conv,
        sig='x, w, b=None, stride=1, pad=0, cover_all=False, dilate=1, groups=1',
        calls=[
            call(f(2, 2, 3, 4), f(3, 2, 2, 2)),
            call(f(1, 2, 4, 3), f(3, 2, 2, 3), f(3), (2, 1), (1, 2), True),
            call(f(2, 3, 5), f(2, 3, 3), f(2), stride=2, pad=1),
            call(f(1, 3, 4, 4), f(2, 3, 1, 1), f(2)),
            call(f(2, 2, 5, 4), f(3, 2, 1, 1), stride=(3, 2)),
            call(f(1, 4, 3, 3), f(4, 2, 2, 2), f(4), groups=2),
            call(f(1, 3, 4, 4), f(3, 1, 3, 3), pad=1, groups=3),
            call(f(1, 2, 3, 3), f(4, 1, 2, 2), f(4), pad=1, stride=2, groups=2),
            call(f(1, 2, 5, 5), f(1, 2, 2, 2), dilate=2),
            call(f(1, 1, 6, 5), f(2, 1, 3, 2), None, (2, 1), (2, 1), False, (2, 3)),
            call(f(1, 2, 3, 4), f(2, 2, 2, 2), f(2), pad=((2, 0), (0, 1))),
            call(f(1, 1, 3), f(1, 1, 2), pad=((3, 4),)),
            call(f(1, 1, 5, 6), f(2, 1, 2, 2), f(2), stride=3, cover_all=True),
            call(f(1, 1, 4), f(1, 1, 1), stride=4, cover_all=True),
            call(f(1, 1, 2), f(1, 1, 3), stride=2, cover_all=True),
            call(f(1, 2, 7), f(1, 2, 2), stride=5),
            call(f(2, 2, 2, 3, 2), f(2, 2, 1, 2, 2), f(2), pad=(0, 1, 1)),
            call(f(1, 1, 1, 2, 1, 1, 2, 1, 1, 2), f(1, 1, 1, 2, 1, 1, 1, 1, 1, 2), f(1)),
            call(f(0, 2, 3, 3), f(3, 2, 2, 2), f(3)),
            call(f(2, 2, 3, 3), f(0, 2, 2, 2), f(0)),
            call(f(2, 0, 3, 3), f(3, 0, 2, 2), f(3)),
            call(f(2, 0, 3), f(3, 0, 2)),
            call(f(1, 1, 0), f(2, 1, 2), f(2), pad=1),
        ],
        dtypes=BOOL + REAL,
        binary=True,
        bools='yes',
        tol=8,
        errors=[
            (call(f(2, 3), f(2, 3)), 'DimensionError', r'x\.shape is \(2, 3\)'),
            (call(f(1, 2, 3, 3), f(1, 2, 3)), 'DimensionError', r'\(1, 2, 3\).*\(1, 2, 3, 3\)'),
            (call(f(1, 2, 3), f(1, 3, 3)), 'DimensionError', r'x\.shape\[1\] is 2, expected 3'),
            (call(f(1, 2, 3), f(1, 2, 0)), 'DimensionError', r'w\.shape\[2\] is 0'),
            (
                call(f(1, 2, 3), f(1, 2, 4)),
                'DimensionError',
                r'w\.shape\[2\] is 4.*x\.shape\[2\] is 3',
            ),
            (call(f(1, 2, 5), f(1, 2, 3), dilate=3, pad=((0, 1),)), 'DimensionError', '7.*6'),
            (call(f(1, 1, 2), f(1, 1, 4), stride=2, cover_all=True), 'DimensionError', '4.*2'),
            (call(f(1, 2, 0), f(1, 2, 1)), 'DimensionError', r'x\.shape\[2\] is 0'),
            (call(f(1, 2, 3), f(2, 2, 2), f(3)), 'DimensionError', r'b\.shape is \(3,\), .*\(2,\)'),
            (call(f(1, 2, 3), f(2, 2, 2), f(2, 1)), 'DimensionError', r'b\.shape is \(2, 1\)'),
            (call(f(1, 4, 3), f(3, 2, 2), groups=2), 'DimensionError', r'groups is 2.*\[0\], 3'),
            (call(f(1, 3, 3), f(2, 2, 2), groups=2), 'DimensionError', r'x\.shape\[1\] is 3.* 4'),
            (call(f(1, 2, 3), f(2, 2, 2), groups=0), 'DimensionError', 'groups is 0'),
            (call(f(1, 2, 3), f(2, 2, 2), groups=-1), 'DimensionError', 'groups is -1'),
            (call(f(1, 2, 3), f(2, 2, 2), stride=0), 'DimensionError', 'stride is 0'),
            (call(f(1, 2, 3), f(2, 2, 2), stride=(1, 1)), 'DimensionError', r'stride is \(1, 1\)'),
            (call(f(1, 2, 3), f(2, 2, 2), stride=2**41), 'DimensionError', 'stride is 2199'),
            (
                call(f(1, 2, 3, 3), f(2, 2, 2, 2), dilate=(1, 0)),
                'DimensionError',
                r'dilate\[1\] is 0',
            ),
            (call(f(1, 2, 3), f(2, 2, 2), dilate=()), 'DimensionError', r'dilate is \(\)'),
            (call(f(1, 2, 3), f(2, 2, 2), pad=-1), 'DimensionError', 'pad is -1'),
            (call(f(1, 2, 3), f(2, 2, 2), pad=((1, -1),)), 'DimensionError', r'pad\[0\] is -1'),
            (call(f(1, 2, 3), f(2, 2, 2), pad=((1, 1, 1),)), 'DimensionError', r'pad\[0\]'),
            (call(f(1, 2, 3), f(2, 2, 2), pad=((1, 1), (1, 1))), 'DimensionError', 'pad is'),
            (call(f(1, 2, 3), f(2, 2, 2), pad=(1, (1, 1))), 'TypeError'),
            (call(f(1, 2, 3), f(2, 2, 2), stride=1.5), 'TypeError'),
            (call(f(1, 2, 3), f(2, 2, 2), stride=None), 'TypeError'),
            (call(f(1, 2, 3), f(2, 2, 2), 'x'), 'TypeError'),
        ],
        big=call(f(5, 8, 33, 35), f(12, 4, 3, 3), f(12), stride=2, pad=1, groups=2),
        sums='convolution',
    ),
    Case(
        'conv_transpose',
        conv_transpose,
        sig='x, w, b=None, stride=1, pad=0, outsize=None, dilate=1, groups=1',
        calls=[
            call(f(2, 2, 2, 3), f(2, 3, 2, 2)),
            call(f(1, 2, 2, 3), f(2, 3, 2, 3), f(3), (2, 1), (1, 0), (3, 5)),
            call(f(2, 3, 3), f(3, 2, 3), f(2), stride=2, pad=1),
            call(f(2, 3, 3), f(3, 2, 3), f(2), stride=2, pad=1, outsize=6),
            call(f(1, 1, 3), f(1, 1, 2), stride=3, outsize=(7,)),
            call(f(1, 1, 3), f(1, 1, 2), stride=3, outsize=(10,)),
            call(f(1, 3, 3, 2), f(3, 2, 1, 1), f(2)),
            call(f(1, 2, 2, 2), f(2, 1, 1, 1), stride=(3, 2)),
            call(f(1, 4, 2, 2), f(4, 2, 2, 2), f(4), groups=2),
            call(f(1, 3, 3, 3), f(3, 1, 3, 3), pad=1, groups=3),
            call(f(1, 2, 3, 2), f(2, 1, 2, 2), dilate=2, pad=1),
            call(f(1, 2, 3, 3), f(2, 2, 2, 2), f(2), pad=((1, 0), (0, 2))),
            call(f(1, 2, 1, 2, 2), f(2, 2, 1, 2, 2), f(2), stride=(1, 2, 1)),
            call(f(1, 1, 1, 2, 1, 1, 2, 1, 1, 2), f(1, 1, 1, 2, 1, 1, 1, 1, 1, 2), f(1)),
            call(f(0, 2, 3, 3), f(2, 3, 2, 2), f(3)),
            call(f(2, 2, 3, 3), f(2, 0, 2, 2), f(0)),
            call(f(2, 0, 3, 3), f(0, 3, 2, 2), f(3)),
            call(f(2, 0, 3), f(0, 3, 2)),
        ],
        dtypes=BOOL + REAL,
        binary=True,
        bools='yes',
        tol=8,
        errors=[
            (call(f(2, 3), f(3, 2)), 'DimensionError', r'x\.shape is \(2, 3\)'),
            (call(f(1, 2, 3, 3), f(2, 1, 3)), 'DimensionError', r'\(2, 1, 3\).*\(1, 2, 3, 3\)'),
            (call(f(1, 2, 3), f(3, 2, 3)), 'DimensionError', r'x\.shape\[1\] is 2, expected 3'),
            (call(f(1, 2, 3), f(2, 2, 0)), 'DimensionError', r'w\.shape\[2\] is 0'),
            (call(f(1, 2, 0), f(2, 2, 1)), 'DimensionError', r'x\.shape\[2\] is 0'),
            (call(f(1, 2, 2), f(2, 1, 2), pad=2), 'DimensionError', 'pad is 2 and 2'),
            (call(f(1, 2, 3), f(2, 3, 2), f(2)), 'DimensionError', r'b\.shape is \(2,\), .*\(3,\)'),
            (call(f(1, 2, 3), f(2, 3, 2), f(3), groups=2), 'DimensionError', r'\(3,\), .*\(6,\)'),
            (call(f(1, 3, 3), f(3, 2, 2), groups=2), 'DimensionError', r'groups is 2.*\[0\], 3'),
            (call(f(1, 2, 3), f(2, 2, 2), groups=0), 'DimensionError', 'groups is 0'),
            (call(f(1, 0, 3), f(0, 2, 2), groups=2**62), 'DimensionError', 'too large'),
            (call(f(1, 2, 3), f(2, 2, 2), stride=0), 'DimensionError', 'stride is 0'),
            (call(f(1, 2, 3), f(2, 2, 2), pad=(1, 1)), 'DimensionError', r'pad is \(1, 1\)'),
            (call(f(1, 2, 3), f(2, 2, 2), dilate=-1), 'DimensionError', 'dilate is -1'),
            (call(f(1, 2, 3), f(2, 2, 2), outsize=(5,)), 'DimensionError', 'outsize is 5.*4'),
            (call(f(1, 2, 3), f(2, 2, 2), stride=2, outsize=8), 'DimensionError', 'outsize is 8'),
            (call(f(1, 2, 3), f(2, 2, 2), stride=2, outsize=4), 'DimensionError', 'outsize is 4'),
            (
                call(f(1, 2, 3), f(2, 2, 2), outsize=(4, 4)),
                'DimensionError',
                r'outsize is \(4, 4\)',
            ),
            (call(f(1, 2, 3), f(2, 2, 2), outsize=0), 'DimensionError', 'outsize is 0'),
            (call(f(1, 2, 3), f(2, 2, 2), outsize='4'), 'TypeError'),
        ],
        big=call(f(5, 12, 17, 16), f(12, 4, 3, 3), f(8), stride=2, pad=1, groups=2),
        sums='convolution',
    ),
]
