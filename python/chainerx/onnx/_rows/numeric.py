"""Numerical routines that are made of others."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainerx as chx
from chainerx.onnx._routine import axis_of, composed


@composed('trapezoid')
def _(y: tp.Any, x: tp.Any = None, dx: tp.Any = 1.0, axis: int = -1) -> tp.Any:
    y = y if y.dtype.kind in 'fV' else y.astype('float32')
    place = axis_of(axis, y.ndim)
    at = (slice(None),) * place
    last = place - y.ndim
    width = dx
    if x is not None:
        x = x if x.dtype.kind in 'fV' else x.astype('float64')
        if x.ndim == 1:
            width = chx.reshape(chx.diff(x), (-1, *(1,) * (-1 - last)))
        else:
            width = chx.diff(x, axis=last)
        if int(x.shape[last if x.ndim > 1 else 0]) != int(y.shape[place]):
            raise ValueError('export: trapezoid: x and y have other lengths along the axis')
    pairs = y[(*at, slice(1, None))] + y[(*at, slice(None, -1))]
    return chx.sum(pairs * width, last) / 2


@composed('linspace')
def _linspace(
    start: tp.Any,
    stop: tp.Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: tp.Any = None,
    device: tp.Any = None,
    *,
    retstep: bool = False,
    axis: int = 0,
) -> tp.Any:
    start, stop = (x if isinstance(x, chx.ndarray) else chx.asarray(x) for x in (start, stop))
    kind = chx.promote_types(chx.result_type(start.dtype, stop.dtype), 'float32')
    a, b = chx.broadcast_arrays(start.astype(kind), stop.astype(kind))
    n = num - 1 if endpoint else num
    step = (b - a) / max(n, 1)
    places = chx.reshape(chx.arange(num, dtype=kind), (num, *(1,) * a.ndim))
    y = chx.expand_dims(a, 0) + places * chx.expand_dims(step, 0)
    if endpoint and num > 1:
        y = chx.concatenate([y[:-1], chx.expand_dims(b, 0)], 0)
    if dtype is not None and np.dtype(dtype).kind in 'iu':
        y = chx.floor(y).astype(dtype)
    y = y if axis == 0 else chx.moveaxis(y, 0, axis)
    return (y, step) if retstep else y


@composed('ediff1d')
def _(ary: tp.Any, to_end: tp.Any = None, to_begin: tp.Any = None) -> tp.Any:
    y = chx.diff(chx.ravel(ary))
    parts = [to_begin, y, to_end]
    found = [
        p
        if p is y
        else chx.ravel(p if isinstance(p, chx.ndarray) else chx.asarray(p)).astype(y.dtype)
        for p in parts
        if p is not None
    ]
    return chx.concatenate(found, 0) if len(found) > 1 else y


@composed('vander')
def _(x: tp.Any, N: int | None = None, increasing: bool = False) -> tp.Any:
    n = int(x.shape[0]) if N is None else N
    if not n:
        raise ValueError('export: vander: there are no columns')
    columns = [chx.ones_like(x)]
    for _ in range(n - 1):
        columns.append(columns[-1] * x)
    columns = columns[:n] if increasing else columns[:n][::-1]
    return chx.stack(columns, 1)


@composed('polyval')
def _(p: tp.Any, x: tp.Any) -> tp.Any:
    x = x if isinstance(x, chx.ndarray) else chx.asarray(x)
    y = chx.zeros_like(x)
    for i in range(int(p.shape[0])):
        y = y * x + p[i]
    return y


@composed('meshgrid')
def _(*xi: tp.Any, copy: bool = False, sparse: bool = False, indexing: str = 'xy') -> tp.Any:
    n = len(xi)
    found = []
    for i, x in enumerate(xi):
        shape = [1] * n
        shape[i] = -1
        found.append(chx.reshape(x if isinstance(x, chx.ndarray) else chx.asarray(x), tuple(shape)))
    if indexing == 'xy' and n > 1:
        found = [chx.swapaxes(x, 0, 1) for x in found]
    return found if sparse else chx.broadcast_arrays(*found)


@composed('interp')
def _(x: tp.Any, xp: tp.Any, fp: tp.Any, left: tp.Any = None, right: tp.Any = None) -> tp.Any:
    x = x if isinstance(x, chx.ndarray) else chx.asarray(x)
    n = int(xp.shape[0])
    dtype = chx.promote_types(chx.result_type(x.dtype, xp.dtype, fp.dtype), 'float32')
    x, xp, fp = x.astype(dtype), xp.astype(dtype), fp.astype(dtype)
    if n == 1:
        y = chx.zeros_like(x) + fp[0]
    else:
        i = chx.clip(chx.searchsorted(xp, x, 'right') - 1, 0, n - 2)
        a, b = chx.take(xp, i, 0), chx.take(xp, i + 1, 0)
        low, high = chx.take(fp, i, 0), chx.take(fp, i + 1, 0)
        width = chx.where(b > a, b - a, 1)  # of points that are twice there
        y = low + (high - low) * ((x - a) / width)
    y = chx.where(x < xp[0], fp[0] if left is None else left, y)
    return chx.where(x > xp[n - 1], fp[n - 1] if right is None else right, y)


@composed('cov')
def _cov(
    m: tp.Any,
    y: tp.Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    *,
    dtype: tp.Any = None,
) -> tp.Any:
    def rows(x: tp.Any) -> tp.Any:
        x = chx.expand_dims(x, 0) if x.ndim == 1 else x
        return x if rowvar or x.shape[0] == 1 else chx.swapaxes(x, 0, 1)

    x = chx.expand_dims(m, (0, 1)) if m.ndim == 0 else rows(m)
    if y is not None:
        x = chx.concatenate([x, rows(y)], 0)
    x = x.astype(dtype or chx.promote_types(x.dtype, 'float32'))
    n = x.shape[1] - ((0 if bias else 1) if ddof is None else ddof)
    centered = x - chx.mean(x, 1, keepdims=True)
    return chx.squeeze(chx.matmul(centered, chx.swapaxes(centered, 0, 1)) / n)


@composed('corrcoef')
def _(x: tp.Any, y: tp.Any = None, rowvar: bool = True, *, dtype: tp.Any = None) -> tp.Any:
    c = _cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    n = int(c.shape[0])
    i = np.arange(n)
    root = chx.sqrt(c[i, i])
    return chx.clip(c / chx.expand_dims(root, 1) / root, -1, 1)


@composed('correlate')
def _correlate(a: tp.Any, v: tp.Any, mode: str = 'valid') -> tp.Any:
    dtype = chx.result_type(a.dtype, v.dtype)
    n, m = int(a.shape[0]), int(v.shape[0])
    if n < m:
        return chx.flip(_correlate(v, a, mode))
    pads = {'valid': (0, 0), 'full': (m - 1, m - 1), 'same': (m // 2, m - 1 - m // 2)}[mode]
    wide = chx.pad(a.astype(dtype), [pads])
    outs = n + sum(pads) - m + 1
    places = np.arange(outs)[:, None] + np.arange(m)
    return chx.matmul(chx.take(wide, chx.array(places), 0), v.astype(dtype))


@composed('convolve')
def _(a: tp.Any, v: tp.Any, mode: str = 'full') -> tp.Any:
    if int(a.shape[0]) < int(v.shape[0]):
        a, v = v, a
    return _correlate(a, chx.flip(v), mode)
