"""Order: sorting, ranks, sets."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainerx as chx
from chainerx.onnx._routine import Operand, RoutineWriter, Typed, axes_of, axis_of, composed, row


def _top(
    g: RoutineWriter, x: tp.Any, k: tp.Any, axis: int, largest: bool, dtype: tp.Any
) -> tuple[Typed, Typed]:
    """The k largest elements, or smallest, and their places; of equal ones the first."""
    g.need(11, 'TopK with an order')
    kind = np.dtype(dtype)
    work = np.dtype(np.int32) if kind.kind == 'b' else g.work_dtype('TopK', kind)
    both = g.op(
        'TopK', [g.to(x, work), g.length_vector(k)], 2, axis=axis, largest=int(largest), sorted=1
    )
    return g.to(Typed(both[0], work), kind), Typed(both[1], np.int64)


def _sorted(
    g: RoutineWriter, a: Operand, axis: int | None, descending: bool
) -> tuple[Typed, Typed]:
    if axis is None:
        n: tp.Any = 1
        for m in a.shape:
            n = n * m
        return _top(g, Typed(g.reshape(a.name, [-1]), a.dtype), n, 0, descending, a.dtype)
    place = axis_of(axis, a.ndim)
    return _top(g, a, a.shape[place], place, descending, a.dtype)


@row('sort')
def _(
    g: RoutineWriter,
    a: Operand,
    axis: int | None = -1,
    kind: tp.Any = None,
    *,
    stable: tp.Any = None,
    descending: bool = False,
) -> Typed:
    return _sorted(g, a, axis, descending)[0]


@row('ndarray.sort')
def _(
    g: RoutineWriter,
    a: Operand,
    axis: int = -1,
    kind: tp.Any = None,
    *,
    stable: tp.Any = None,
    descending: bool = False,
) -> Typed:
    return _sorted(g, a, axis, descending)[0]


@row('argsort')
def _(
    g: RoutineWriter,
    a: Operand,
    axis: int | None = -1,
    kind: tp.Any = None,
    *,
    stable: tp.Any = None,
    descending: bool = False,
) -> Typed:
    return _sorted(g, a, axis, descending)[1]


# What is sorted is partitioned, whichever the places.


@row('partition', 'ndarray.partition')
def _(g: RoutineWriter, a: Operand, kth: tp.Any, axis: int | None = -1, kind: str = '') -> Typed:
    return _sorted(g, a, axis, False)[0]


@row('argpartition')
def _(g: RoutineWriter, a: Operand, kth: tp.Any, axis: int | None = -1, kind: str = '') -> Typed:
    return _sorted(g, a, axis, False)[1]


@row('topk')
def _(
    g: RoutineWriter,
    x: Operand,
    k: int,
    axis: int = -1,
    largest: bool = True,
    sorted: bool = True,
) -> tuple[Typed, ...]:
    place = axis_of(axis, x.ndim)
    if sorted:
        return _top(g, x, k, place, largest, x.dtype)
    _, places = _top(g, x, k, place, largest, x.dtype)
    places, _ = _top(g, places, k, place, False, np.int64)
    return Typed(g.op('GatherElements', [x.name, places], axis=place), x.dtype), places


def _together(a: tp.Any, axis: tp.Any) -> tuple[tp.Any, list[int]]:
    """The axes as one, at the end."""
    axes = axes_of(axis, a.ndim)
    rest = [i for i in range(a.ndim) if i not in axes]
    if 0 in a.shape:
        raise ValueError('export: a quantile has no elements')
    moved = chx.transpose(a, (*rest, *axes))
    return chx.reshape(moved, (*[a.shape[i] for i in rest], -1)), axes


def _check_length(name: str, n: int) -> None:
    if n == 0:
        raise ValueError(f'export: {name}: the array has no elements')


def _kept(y: tp.Any, axes: list[int], keepdims: bool) -> tp.Any:
    return chx.expand_dims(y, tuple(axes)) if keepdims and axes else y


@composed('median')
def _(a: tp.Any, axis: tp.Any = None, keepdims: bool = False) -> tp.Any:
    a = a.astype(chx.promote_types(a.dtype, 'float16') if a.dtype.kind in 'fV' else 'float32')
    flat, axes = _together(a, axis)
    n = int(flat.shape[-1])
    _check_length('median', n)
    ordered = chx.sort(flat, -1)
    y = (ordered[..., (n - 1) // 2] + ordered[..., n // 2]) / 2
    y = chx.where(chx.any(chx.isnan(flat), -1), float('nan'), y)
    return _kept(y, axes, keepdims)


def _quantile(
    a: tp.Any, q: tp.Any, axis: tp.Any, method: str, keepdims: bool, scale: float
) -> tp.Any:
    if isinstance(q, chx.ndarray):
        if type(q) is not chx.ndarray:
            raise TypeError('export: quantile: q is computed, expected a constant')
        q = chx.to_numpy(q)
    ranks = np.asarray(q, float) / scale
    a = a if a.dtype.kind in 'fV' else a.astype('float32')
    flat, axes = _together(a, axis)
    n = int(flat.shape[-1])
    _check_length('quantile', n)
    ordered = chx.sort(flat, -1)
    places = ranks * (n - 1)
    low, high = np.floor(places).astype(int), np.ceil(places).astype(int)
    part = {
        'linear': places - low,
        'lower': np.zeros_like(places),
        'higher': np.ones_like(places),
        'midpoint': np.where(low == high, 0.0, 0.5),
        'nearest': np.round(places) - low,
    }.get(method)
    if part is None:
        raise ValueError(f'export: quantile: there are no operators for method {method!r}')
    flat_low = chx.take(ordered, chx.array(low.ravel()), -1)
    flat_high = chx.take(ordered, chx.array(high.ravel()), -1)
    weight = chx.array(part.ravel().astype(float)).astype(a.dtype)
    y = flat_low * (1 - weight) + flat_high * weight
    y = chx.where(chx.any(chx.isnan(flat), -1, keepdims=True), float('nan'), y)
    y = chx.moveaxis(y, -1, 0)
    y = chx.reshape(y, (*ranks.shape, *y.shape[1:]))
    shift = [i + ranks.ndim for i in axes]
    return _kept(y, shift, keepdims)


@composed('quantile')
def _(
    a: tp.Any, q: tp.Any, axis: tp.Any = None, *, method: str = 'linear', keepdims: bool = False
) -> tp.Any:
    return _quantile(a, q, axis, method, keepdims, 1)


@composed('percentile')
def _(
    a: tp.Any, q: tp.Any, axis: tp.Any = None, *, method: str = 'linear', keepdims: bool = False
) -> tp.Any:
    return _quantile(a, q, axis, method, keepdims, 100)


def _comparable(a: tp.Any, b: tp.Any) -> tuple[tp.Any, tp.Any]:
    """Bools become numbers beside numbers."""
    if (a.dtype.kind == 'b') == (b.dtype.kind == 'b'):
        return a, b
    return (a.astype('int32'), b) if a.dtype.kind == 'b' else (a, b.astype('int32'))


@composed('searchsorted')
def _(a: tp.Any, v: tp.Any, side: str = 'left') -> tp.Any:
    v = v if isinstance(v, chx.ndarray) else chx.asarray(v)
    a, v = _comparable(a, v)
    each = chx.expand_dims(v, -1)
    found = a < each if side == 'left' else a <= each
    return chx.sum(found, -1, dtype='int64')


@composed('digitize')
def _(x: tp.Any, bins: tp.Any, right: bool = False) -> tp.Any:
    if type(bins) is not chx.ndarray:
        raise TypeError('export: digitize: bins are computed, expected a constant')
    edges = chx.to_numpy(bins)
    each = chx.expand_dims(x, -1)
    if len(edges) < 2 or edges[0] <= edges[-1]:
        found = bins < each if right else bins <= each
    else:
        found = bins >= each if right else bins > each
    return chx.sum(found, -1, dtype='int64')


@composed('isin')
def _(
    element: tp.Any,
    test_elements: tp.Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: tp.Any = None,
) -> tp.Any:
    tests = [x if isinstance(x, chx.ndarray) else chx.asarray(x) for x in (element, test_elements)]
    tests = list(_comparable(*tests))
    y = chx.any(chx.expand_dims(tests[0], -1) == chx.ravel(tests[1]), -1)
    return chx.logical_not(y) if invert else y


def _unique(g: RoutineWriter, x: Operand, axis: int | None = None) -> tuple[tp.Any, ...]:
    g.need(11, 'Unique')
    kind = np.dtype(np.int64) if x.dtype.kind in 'iub' else np.dtype(np.float32)
    kind = x.dtype if x.dtype == np.float64 else kind
    place = None if axis is None else axis_of(axis, x.ndim)
    names = g.op('Unique', [g.to(x, kind)], 4, axis=place, sorted=1)
    return g.to(Typed(names[0], kind), x.dtype), *[Typed(n, np.int64) for n in names[1:]]


@row('unique')
def _(
    g: RoutineWriter,
    ar: Operand,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tp.Any:
    found = _unique(g, ar, axis)
    inverse = found[2]
    if axis is None and ar.ndim != 1:
        inverse = Typed(g.shaped(inverse, ar.shape), np.int64)
    chosen = [found[0]]
    chosen += [found[1]] if return_index else []
    chosen += [inverse] if return_inverse else []
    chosen += [found[3]] if return_counts else []
    return tuple(chosen)


@row('unique_values')
def _(g: RoutineWriter, x: Operand) -> tp.Any:
    return _unique(g, x)[0]


@row('unique_counts')
def _(g: RoutineWriter, x: Operand) -> tp.Any:
    found = _unique(g, x)
    return found[0], found[3]


@row('unique_inverse')
def _(g: RoutineWriter, x: Operand) -> tp.Any:
    found = _unique(g, x)
    return found[0], Typed(g.shaped(found[2], x.shape), np.int64)


@row('unique_all')
def _(g: RoutineWriter, x: Operand) -> tp.Any:
    found = _unique(g, x)
    return found[0], found[1], Typed(g.shaped(found[2], x.shape), np.int64), found[3]
