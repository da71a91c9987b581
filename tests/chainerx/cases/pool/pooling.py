"""Poolings over spatial axes."""

import functools
import math

import numpy as np
from cases._table import BOOL, FLOATS, REAL, Case, call, f, i


def _each(value, n):
    return (value,) * n if isinstance(value, int) else tuple(value)


def _pads(pad, n):
    return [(p, p) if isinstance(p, int) else tuple(p) for p in _each(pad, n)]


def windows_of(x, ksize, stride, pad, cover_all=False):
    """For each window its index, its origin, and the slices within the input."""
    n = x.ndim - 2
    size = _each(ksize, n)
    steps = size if stride is None else _each(stride, n)
    pads = _pads(pad, n)
    outs = tuple(
        (m + sum(p) - k + (s - 1 if cover_all else 0)) // s + 1
        for m, p, k, s in zip(x.shape[2:], pads, size, steps, strict=True)
    )
    found = []
    for o in np.ndindex(*outs):
        origin = tuple(j * s - p[0] for j, s, p in zip(o, steps, pads, strict=True))
        inside = tuple(
            slice(min(max(b, 0), m), max(min(b + k, m), 0))
            for b, k, m in zip(origin, size, x.shape[2:], strict=True)
        )
        found.append((o, origin, inside))
    return size, outs, found


def max_pool(x, ksize, stride=None, pad=0, cover_all=False, return_indices=False):
    size, outs, windows = windows_of(x, ksize, stride, pad, cover_all)
    lowest = -np.inf if x.dtype.kind == 'f' else np.iinfo(x.dtype).min if x.dtype != bool else False
    y = np.full((*x.shape[:2], *outs), lowest, x.dtype)
    indices = np.zeros(y.shape, np.int64)
    for o, origin, inside in windows:
        part = x[(..., *inside)]
        flat = part.reshape(*part.shape[:2], math.prod(part.shape[2:]))
        if flat.size == 0:
            continue
        best = flat.argmax(-1)
        y[(..., *o)] = np.take_along_axis(flat, best[..., None], -1)[..., 0]
        steps = np.unravel_index(best, part.shape[2:])
        place = [s + w.start - b for s, w, b in zip(steps, inside, origin, strict=True)]
        indices[(..., *o)] = np.ravel_multi_index(place, size)
    return (y, indices) if return_indices else y


def average_pool(x, ksize, stride=None, pad=0, pad_mode='ignore', cover_all=False):
    size, outs, windows = windows_of(x, ksize, stride, pad, cover_all)
    y = np.zeros((*x.shape[:2], *outs), x.dtype)
    for o, _, inside in windows:
        part = x[(..., *inside)]
        count = math.prod(size if pad_mode == 'zero' else part.shape[2:])
        y[(..., *o)] = part.sum(tuple(range(2, x.ndim))) / max(count, 1)
    return y


def _unpooled(x, ksize, stride, pad, outsize, cover_all):
    n = x.ndim - 2
    size, pads = _each(ksize, n), _pads(pad, n)
    steps = size if stride is None else _each(stride, n)
    if outsize is None:
        outsize = tuple(
            (m - 1) * s + k - sum(p) - (s - 1 if cover_all else 0)
            for m, s, k, p in zip(x.shape[2:], steps, size, pads, strict=True)
        )
    return np.zeros((*x.shape[:2], *_each(outsize, n)), x.dtype)


def unpool(x, ksize, stride=None, pad=0, outsize=None, cover_all=False):
    y = _unpooled(x, ksize, stride, pad, outsize, cover_all)
    for o, _, inside in windows_of(y, ksize, stride, pad, cover_all)[2]:
        y[(..., *inside)] += x[(..., *o)][(..., *[None] * (x.ndim - 2))]
    return y


def max_unpool(x, indices, ksize, stride=None, pad=0, outsize=None, cover_all=False):
    y = _unpooled(x, ksize, stride, pad, outsize, cover_all)
    size, _, windows = windows_of(y, ksize, stride, pad, cover_all)
    for o, origin, _ in windows:
        for batch in np.ndindex(*x.shape[:2]):
            steps = np.unravel_index(indices[batch + o] % math.prod(size), size)
            place = tuple(s + b for s, b in zip(steps, origin, strict=True))
            if all(0 <= k < m for k, m in zip(place, y.shape[2:], strict=True)):
                y[batch + place] += x[batch + o]
    return y


def _adaptive(reduce):
    def apply(x, output_size=1):
        outs = _each(output_size, x.ndim - 2)
        y = np.zeros((*x.shape[:2], *outs), x.dtype)
        for o in np.ndindex(*outs):
            part = tuple(
                slice(j * m // n, -(-(j + 1) * m // n))
                for j, n, m in zip(o, outs, x.shape[2:], strict=True)
            )
            y[(..., *o)] = reduce(x[(..., *part)], tuple(range(2, x.ndim)))
        return y

    return apply


# Distinct numbers, since a difference quotient must not change the position of the maximum.
_d = functools.partial(f, distinct=True, lo=-8, hi=8)

_GEOMETRIES = [
    ((2, 3, 6, 7), {'ksize': 2}),
    ((1, 2, 7, 8), {'ksize': 3, 'stride': 2, 'pad': 1}),
    ((1, 2, 5, 6), {'ksize': 3, 'stride': 1, 'pad': 1}),
    ((1, 1, 9, 4), {'ksize': (4, 3), 'stride': (3, 2), 'pad': (2, 1)}),
    ((2, 2, 5), {'ksize': 2, 'stride': 1}),
    ((1, 1, 4, 3, 5), {'ksize': (2, 3, 2), 'stride': (1, 2, 2), 'pad': (0, 1, 1)}),
    ((1, 2, 2, 3, 2, 2), {'ksize': 2, 'stride': 1}),
    ((1, 2, 4, 5), {'ksize': (4, 5)}),
    ((1, 2, 4, 5), {'ksize': (2, 5), 'stride': (1, 3)}),
    ((1, 2, 3, 20), {'ksize': (2, 9), 'stride': (2, 5), 'pad': (0, 3)}),
    ((1, 1, 3, 3), {'ksize': 1, 'stride': 2}),
    ((1, 1, 3, 4), {'ksize': 2, 'stride': 2, 'pad': ((0, 1), (1, 0))}),
    ((1, 1, 40), {'ksize': 40}),
    ((1, 1, 18, 20), {'ksize': (17, 18), 'stride': 1}),
    ((0, 3, 4, 4), {'ksize': 2}),
    ((2, 0, 4, 4), {'ksize': 2}),
]
# Windows of padding alone, whose maximum has no int64 value common to all dtypes.
_OUTSIDE = [((1, 1, 2, 2), {'ksize': 2, 'stride': 3, 'pad': 2})]
_COVERS = [
    ((1, 2, 5, 7), {'ksize': 2, 'stride': 3, 'cover_all': True}),
    ((1, 1, 3, 4), {'ksize': 5, 'cover_all': True}),
    ((1, 2, 7), {'ksize': 3, 'stride': 2, 'pad': ((1, 0),), 'cover_all': True}),
]


def _geometry_errors(name='ksize'):
    return [
        (call(f(1, 1, 6, 5), 7), 'DimensionError', rf'{name}.*7.*x.shape\[2\] is 6'),
        (call(f(1, 1, 6, 5), (2, 8), 1, (0, 1)), 'DimensionError', r'8.*x.shape\[3\] is 5.*pad 1'),
        (call(f(1, 1, 6, 5), 0), 'DimensionError', 'ksize is 0, expected at least 1'),
        (call(f(1, 1, 6, 5), 2, 0), 'DimensionError', 'stride is 0, expected at least 1'),
        (call(f(1, 1, 6, 5), 2, (1, -1)), 'DimensionError', r'stride\[1\] is -1'),
        (call(f(1, 1, 6, 5), 2, 2, -1), 'DimensionError', 'pad is -1, expected at least 0'),
        (call(f(1, 1, 6, 5), (2,)), 'DimensionError', r'ksize is \(2,\), expected 2'),
        (call(f(1, 1, 6, 5), 2, (2, 2, 2)), 'DimensionError', r'stride is \(2, 2, 2\)'),
        (call(f(1, 1, 6, 5), 2, 2, (1,)), 'DimensionError', r'pad is \(1,\)'),
        (call(f(1, 1, 6, 5), 2, 2, ((1, 1),)), 'DimensionError', r'pad is \(1,\)'),
        (
            call(f(1, 1, 6, 5), 2, 2, ((1, 1, 1), (0, 0))),
            'DimensionError',
            r'pad\[0\] is \(1, 1, 1\)',
        ),
        (call(f(1, 1, 6, 5), 2**20), 'DimensionError', 'elements'),
        (call(f(1, 6), 2), 'DimensionError', r'x.shape is \(1, 6\)'),
        (call(f(1, 1, 0, 5), 2), 'DimensionError', r'x.shape\[2\] is 0'),
        (call(f(1, 1, 6, 5), 2.0), 'TypeError', 'ksize'),
        (call(f(1, 1, 6, 5), 'x'), 'TypeError', 'ksize'),
    ]


def _back(windows, geometries):
    """Calls that invert the poolings, on arrays with the shapes of their results."""
    for shape, kw in geometries:
        cover = kw.get('cover_all', False)
        outs = windows(np.zeros((1, 1, *shape[2:])), kw['ksize'], kw.get('stride'),
                       kw.get('pad', 0), cover)[1]  # fmt: skip
        yield (*shape[:2], *outs), {**kw, 'outsize': shape[2:]}


_BACK = list(_back(windows_of, _GEOMETRIES + _COVERS + _OUTSIDE))
_BACK_ERRORS = [
    (call(f(1, 1, 3, 3), 2, outsize=(7, 8)), 'DimensionError', r'x.shape\[3\] is 3, expected 4'),
    (call(f(1, 1, 3, 3), 2, outsize=(6,)), 'DimensionError', r'outsize is \(6,\)'),
    (call(f(1, 1, 3, 3), 2, pad=9), 'DimensionError', r'x.shape\[2\] is 3'),
    (call(f(1, 1, 0, 3), 2), 'DimensionError', r'x.shape\[2\] is 0'),
    (call(f(3, 3), 2), 'DimensionError', r'x.shape is \(3, 3\)'),
    (call(f(1, 1, 3, 3), 2, 0), 'DimensionError', 'stride is 0'),
]
_ADAPTIVE = [
    ((2, 3, 6, 7), (3, 2)),
    ((1, 2, 7, 5), 3),
    ((1, 2, 8, 6), (4, 2)),
    ((1, 2, 3, 2), (5, 4)),
    ((2, 2, 11), 4),
    ((1, 1, 4, 5, 6), (2, 5, 4)),
    ((1, 2, 7, 7), 1),
    ((0, 2, 7, 7), 2),
    ((1, 2, 7, 7), (0, 2)),
]
_ADAPTIVE_ERRORS = [
    (call(f(1, 1, 0, 3), (2, 2)), 'DimensionError', r'x.shape is \(1, 1, 0, 3\)'),
    (call(f(1, 1, 3, 3), (2,)), 'DimensionError', r'output_size is \(2,\)'),
    (call(f(1, 1, 3, 3), -1), 'DimensionError', 'output_size is -1'),
    (call(f(3, 3), 1), 'DimensionError', r'x.shape is \(3, 3\)'),
    (call(f(1, 1, 3, 3), 1.5), 'TypeError', 'output_size'),
]


def _adaptive_case(name, reduce, **kw):
    return Case(name, _adaptive(reduce), sig='x, output_size',
                calls=[call(_d(*shape), size) for shape, size in _ADAPTIVE],
                errors=_ADAPTIVE_ERRORS, big=call(_d(3, 40, 37, 29), (5, 7)), **kw)  # fmt: skip


def _global_case(name, reduce, **kw):
    return Case(name, _adaptive(reduce), sig='x',
                calls=[call(_d(2, 3, 5, 4)), call(_d(1, 2, 70)), call(_d(0, 2, 3, 3)),
                       call(_d(2, 2, 1, 2, 3))],
                errors=[(call(f(2, 3)), 'DimensionError', r'x.shape is \(2, 3\)'),
                        (call(f(2, 3, 0)), 'DimensionError', r'x.shape is \(2, 3, 0\)')],
                big=call(_d(3, 40, 37, 29)), **kw)  # fmt: skip


CASES = [
    Case(
        'max_pool',
        max_pool,
        sig='x, ksize, stride, pad, cover_all, return_indices',
        calls=[call(_d(*shape), **kw) for shape, kw in _GEOMETRIES + _COVERS]
        + [call(_d(2, 3, 6, 7), 2, None, 0, True)],
        dtypes=(*REAL, *BOOL),
        errors=_geometry_errors(),
        big=call(_d(5, 40, 37, 29), 3, 2, 1),
    ),
    Case(
        'average_pool',
        average_pool,
        sig='x, ksize, stride, pad, pad_mode, cover_all',
        calls=[
            call(f(*shape), **kw, **mode)
            for mode in ({}, {'pad_mode': 'zero'})
            for shape, kw in _GEOMETRIES + _COVERS + _OUTSIDE
        ],
        dtypes=FLOATS,
        tol=8,  # sums of up to 300 elements
        errors=[
            *_geometry_errors(),
            (call(f(1, 1, 6, 5), 2, pad_mode='x'), 'ValueError', "'x'"),
            (call(f(1, 1, 6, 5), 2, pad_mode=1), 'TypeError', 'pad_mode'),
        ],
        big=call(f(5, 40, 37, 29), 3, 2, 1),
    ),
    Case(
        'unpool',
        unpool,
        sig='x, ksize, stride, pad, outsize, cover_all',
        calls=[call(f(*shape), **kw) for shape, kw in _BACK]
        + [
            call(f(2, 3, 3, 4), 2),
            call(f(2, 3, 3, 4), 3, 2, 1),
            call(f(1, 2, 3, 4), (2, 3), (2, 1), (0, 1), None, True),
        ],
        dtypes=FLOATS,
        tol=8,  # sums of up to 300 elements
        errors=_BACK_ERRORS,
        big=call(f(5, 40, 18, 15), 3, 2, 1),
    ),
    Case(
        'max_unpool',
        max_unpool,
        sig='x, indices, ksize, stride, pad, outsize, cover_all',
        calls=[
            call(f(*shape), i(*shape, hi=math.prod(_each(kw['ksize'], len(shape) - 2)) - 1), **kw)
            for shape, kw in _BACK
        ]
        + [
            call(f(2, 3, 3, 4), i(2, 3, 3, 4), 2),
            call(f(2, 3, 3, 4), i(2, 3, 3, 4, lo=-9, hi=8, dtype='int32'), 3, 2, 1),
            call(f(1, 2, 3, 4), i(1, 2, 3, 4, dtype='uint8'), (2, 3), (2, 1), (0, 1), None, True),
        ],
        dtypes=FLOATS,
        errors=[
            (call(e.args[0], i(*e.args[0].shape), *e.args[1:], **e.kw), *rest)
            for e, *rest in _BACK_ERRORS
        ]
        + [
            (call(f(1, 1, 3, 3), i(1, 1, 3, 2), 2), 'DimensionError', r'\(1, 1, 3, 2\)'),
            (call(f(1, 1, 3, 3), f(1, 1, 3, 3), 2), 'DtypeError', 'indices'),
            (call(f(1, 1, 3, 3), i(1, 1, 3, 3, lo=4, hi=4), 2), 'IndexError', '4'),
            (call(f(1, 1, 3, 3), i(1, 1, 3, 3, lo=-5, hi=-5), 2), 'IndexError', '-5'),
        ],
        big=call(f(5, 40, 18, 15), i(5, 40, 18, 15, hi=8), 3, 2, 1),
    ),
    _adaptive_case('adaptive_max_pool', np.max, dtypes=(*REAL, *BOOL)),
    _adaptive_case('adaptive_average_pool', np.mean, dtypes=FLOATS, tol=4),
    _global_case('global_max_pool', np.max, dtypes=(*REAL, *BOOL)),
    _global_case('global_average_pool', np.mean, dtypes=FLOATS, tol=4),
]
