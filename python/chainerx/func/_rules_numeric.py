"""Batching rules of differences, integrals, convolutions of vectors, and covariances."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx.func import _batch
from chainerx.func._batch import Level, composed, full, is_array, is_batch, rule, unwrap
from chainerx.func._rules_axes import axes_of, axis_of

if tp.TYPE_CHECKING:
    from chainerx._typing import Axis, DTypeLike, Operand, Routine


@rule('diff')
def _diff(
    level: Level,
    function: Routine,
    a: Operand,
    n: int = 1,
    axis: int = -1,
    prepend: Operand = None,
    append: Operand = None,
) -> Operand:
    axis = axis_of('diff', axis, a.ndim)
    ends = []
    for end in (prepend, append):
        if is_array(end):
            if end.ndim == 0:
                like = [1 if i - a.ndim == axis else m for i, m in enumerate(a.shape)]
                end = chainerx.broadcast_to(end, tuple(like))
            end = full(end, level)
        ends.append(end)
    return function(full(a, level), n, axis, *ends)


@composed('ediff1d')
def _ediff1d(ary: Operand, to_end: Operand = None, to_begin: Operand = None) -> Operand:
    parts = [to_begin, chainerx.diff(chainerx.ravel(ary)), to_end]
    arrays = [
        x if is_array(x) else chainerx.asarray(x, device=ary.device) for x in parts if x is not None
    ]
    return chainerx.concatenate([chainerx.ravel(x).astype(ary.dtype, copy=False) for x in arrays])


@rule('trapezoid')
def _trapezoid(
    level: Level,
    function: Routine,
    y: Operand,
    x: Operand = None,
    dx: Operand = 1.0,
    axis: int = -1,
) -> Operand:
    axis = axis_of('trapezoid', axis, y.ndim)
    if x is None and is_batch(dx, level):
        return unwrap(_of_widths(y, dx, axis), level)
    if x is not None:
        dx = 1.0  # which is ignored
        if x.ndim == 1:
            like = [x.size if i - y.ndim == axis else 1 for i in range(y.ndim)]
            x = chainerx.reshape(x, tuple(like))
        if x.shape[axis] != y.shape[axis]:
            return _batch.by_examples('trapezoid', level, function, (y, x, dx, axis), {})
        shape = chainerx.broadcast_shapes(x.shape, y.shape)
        x, y = full(chainerx.broadcast_to(x, shape), level), chainerx.broadcast_to(y, shape)
    return function(full(y, level), x, dx, axis)


def _of_widths(y: Operand, dx: Operand, axis: int) -> Operand:
    """The integral with widths that may differ between positions and examples."""
    last = (slice(None),) * (-1 - axis)
    left, right = y[(..., slice(None, -1), *last)], y[(..., slice(1, None), *last)]
    return chainerx.sum(dx * (left + right) / 2, axis)


@rule('gradient')
def _gradient(
    level: Level,
    function: Routine,
    f: Operand,
    *varargs: Operand,
    axis: Axis | None = None,
    edge_order: int = 1,
) -> Operand:
    if any(is_batch(x, level) for x in varargs):
        kw = {'axis': axis, 'edge_order': edge_order}
        return _batch.by_examples('gradient', level, function, (f, *varargs), kw)
    axes = axes_of('gradient', axis, f.ndim)
    return function(f.array, *varargs, axis=axes, edge_order=edge_order)


@composed('convolve')
def _convolve(a: Operand, v: Operand, mode: str = 'full') -> Operand:
    if v.size > a.size:
        a, v = v, a
    return _correlate_longer(a, chainerx.flip(v), mode)


@composed('correlate')
def _correlate(a: Operand, v: Operand, mode: str = 'valid') -> Operand:
    v = chainerx.conj(v)
    if v.size <= a.size:
        return _correlate_longer(a, v, mode)
    return chainerx.flip(_correlate_longer(v, a, mode))


def _correlate_longer(a: Operand, v: Operand, mode: str) -> Operand:
    """Sums of products of `v` and the windows of `a`, which is at least as long."""
    n = v.size
    edges = {'full': (n - 1, n - 1), 'same': (n // 2, n - 1 - n // 2), 'valid': (0, 0)}
    if a.ndim != 1 or v.ndim != 1 or n == 0 or mode not in edges:
        raise ValueError(
            f'convolve or correlate: shapes {a.shape} and {v.shape}, mode {mode!r}, expected two '
            "vectors that are not empty, and 'full', 'same' or 'valid'"
        )
    padded = chainerx.pad(a, [edges[mode]])
    count = padded.size - n + 1
    starts = chainerx.arange(count, dtype='int64', device=a.device)
    at = chainerx.expand_dims(starts, 1) + chainerx.arange(n, dtype='int64', device=a.device)
    windows = chainerx.take(padded, at)
    if mode == 'valid':
        return chainerx.matmul(windows, v)
    # Beyond the ends, padding can't be 0, since an infinity times 0 is NaN.
    before = edges[mode][0]
    is_inside = (at >= before) & (at < before + a.size)
    products = chainerx.where(is_inside, windows * v, 0)
    return chainerx.sum(products, axis=1).astype(products.dtype)


@composed('cov')
def _cov(
    m: Operand,
    y: Operand = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: float | None = None,
    fweights: Operand = None,
    aweights: Operand = None,
    *,
    dtype: DTypeLike | None = None,
) -> Operand:
    x = _variables(m, rowvar)
    if y is not None:
        x = chainerx.concatenate([x, _variables(y, rowvar)])
    if dtype is None:
        dtype = chainerx.promote_types(x.dtype, 'float32')
    x = x.astype(dtype, copy=False)
    ddof = (0 if bias else 1) if ddof is None else ddof
    weights = fweights
    if aweights is not None:
        weights = aweights if weights is None else weights * aweights
    if weights is None:
        total: Operand = float(x.shape[1])
        factor: Operand = max(total - ddof, 0.0)
        centered = x - chainerx.sum(x, 1, keepdims=True) / total
        return chainerx.squeeze(
            chainerx.matmul(centered, chainerx.conj(chainerx.transpose(centered))) / factor
        )
    weights = weights.astype(dtype, copy=False)
    total = chainerx.sum(weights)
    factor = total - ddof
    if aweights is not None:
        factor = total - ddof * chainerx.sum(weights * aweights) / total
    centered = x - chainerx.sum(x * weights, 1, keepdims=True) / total
    turned = chainerx.conj(chainerx.transpose(centered * weights))
    return chainerx.squeeze(chainerx.matmul(centered, turned) / factor)


def _variables(m: Operand, rowvar: bool) -> Operand:
    """Arranges one row for each variable."""
    if m.ndim > 2:
        raise chainerx.DimensionError(f'cov: an array has {m.ndim} axes, expected at most 2')
    if m.ndim < 2:
        return chainerx.reshape(m, (1, m.size))
    return m if rowvar else chainerx.transpose(m)


@composed('corrcoef')
def _corrcoef(
    x: Operand, y: Operand = None, rowvar: bool = True, *, dtype: DTypeLike | None = None
) -> Operand:
    c = _cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    spread = chainerx.sqrt(chainerx.real(chainerx.diagonal(c)))
    c = c / chainerx.expand_dims(spread, 1) / spread
    if c.dtype.kind == 'c':
        return chainerx.clip(chainerx.real(c), -1, 1) + 1j * chainerx.clip(chainerx.imag(c), -1, 1)
    return chainerx.clip(c, -1, 1)
