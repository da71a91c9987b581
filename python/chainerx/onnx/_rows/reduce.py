"""Reductions, and sums along an axis."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainerx as chx
from chainerx.onnx import _loops
from chainerx.onnx._routine import (
    Operand,
    RoutineWriter,
    Typed,
    UnknownLength,
    axes_of,
    axis_of,
    composed,
    row,
)
from chainerx.onnx._terms import Term

Axis: tp.TypeAlias = tp.Any


def reduced(
    g: RoutineWriter, kind: str, x: tp.Any, axes: tp.Sequence[int], keepdims: bool, dtype: tp.Any
) -> Typed:
    """One of the operators Reduce..., of elements of a dtype."""
    work = g.work_dtype(f'Reduce{kind}', dtype)
    name = g.to(x, work)
    return g.to(Typed(g.reduce(kind, name, axes, keepdims), work), dtype)


def _mean_of_any(g: RoutineWriter, a: Operand, axes: tp.Sequence[int], keepdims: bool) -> Typed:
    """The mean, which is nan of no elements; runtimes have 0 for these."""
    total = reduced(g, 'Sum', a, axes, keepdims, g.dtype)
    lengths = g.concat([g.length_vector(a.shape[i]) for i in axes])
    count = Typed(g.op('ReduceProd', [lengths], keepdims=0), np.int64)
    return g.run('Div', total, g.to(count, g.dtype))


def _need_elements(g: RoutineWriter, a: Operand, axes: tp.Sequence[int]) -> None:
    if any(type(a.shape[i]) is int and a.shape[i] == 0 for i in axes):
        g.lacks('mean of no elements')


def _reduction(name: str, kind: str) -> None:
    def write(
        g: RoutineWriter,
        a: Operand,
        axis: Axis = None,
        keepdims: bool = False,
        dtype: tp.Any = None,
    ) -> Typed:
        axes = axes_of(axis, a.ndim)
        if kind == 'Mean':
            _need_elements(g, a, axes)
            if any(isinstance(a.shape[i], UnknownLength) for i in axes):
                return _mean_of_any(g, a, axes, keepdims)
            if a.dtype.kind in 'iu':  # whose sums may need all digits
                return reduced(g, kind, a, axes, keepdims, np.float64)
        return reduced(g, kind, a, axes, keepdims, g.dtype)

    row(name)(write)


def _limited(name: str, join: tp.Any, unit: float | None, *more: str) -> None:
    """Elements that do not count become the unit; `initial` is one more."""

    def compose(
        a: tp.Any,
        axis: Axis = None,
        keepdims: bool = False,
        *,
        dtype: tp.Any = None,
        initial: tp.Any = None,
        where: tp.Any = True,
    ) -> tp.Any:
        if initial is None and where is True:
            return NotImplemented
        if unit is None and 0 in a.shape:
            raise ValueError(f'export: {name} of no elements is not written')
        if where is not True:
            a = chx.where(where, a, initial if unit is None else unit)
        kwargs = {} if dtype is None else {'dtype': dtype}
        y = getattr(chx, name)(a, axis, keepdims, **kwargs)
        return y if initial is None else join(y, initial)

    composed(name, *more)(compose)


_limited('sum', lambda x, y: x + y, 0)
_limited('prod', lambda x, y: x * y, 1)
_limited('amax', chx.maximum, None, 'max')
_limited('amin', chx.minimum, None, 'min')
_limited('any', chx.logical_or, 0)
_limited('all', chx.logical_and, 1)


def _wide(a: tp.Any, dtype: tp.Any) -> tp.Any:
    """In a float dtype that has all digits of sums."""
    return a.astype('float64' if a.dtype.kind in 'iu' else dtype or a.dtype)


@composed('mean')
def _(
    a: tp.Any,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    dtype: tp.Any = None,
    where: tp.Any = True,
) -> tp.Any:
    if where is True:
        return NotImplemented
    a = _wide(a, dtype)
    counts = chx.broadcast_to(where, a.shape).astype(a.dtype)
    total = chx.sum(chx.where(where, a, 0), axis, keepdims)
    return total / chx.sum(counts, axis, keepdims)


for _name, _kind in {
    'sum': 'Sum',
    'prod': 'Prod',
    'mean': 'Mean',
    'logsumexp': 'LogSumExp',
}.items():
    _reduction(_name, _kind)


def _extreme(names: tuple[str, ...], kind: str) -> None:
    def write(g: RoutineWriter, a: Operand, axis: Axis = None, keepdims: bool = False) -> Typed:
        dtype = np.dtype(np.int32) if g.dtype == bool else g.dtype
        return reduced(g, kind, a, axes_of(axis, a.ndim), keepdims, dtype)

    row(*names)(write)


_extreme(('max', 'amax', '_max'), 'Max')
_extreme(('min', 'amin', '_min'), 'Min')


@row('any')
def _(g: RoutineWriter, a: Operand, axis: Axis = None, keepdims: bool = False) -> Typed:
    return _logical(g, 'Max', a, axis, keepdims)


@row('all')
def _(g: RoutineWriter, a: Operand, axis: Axis = None, keepdims: bool = False) -> Typed:
    return _logical(g, 'Min', a, axis, keepdims)


def _logical(g: RoutineWriter, kind: str, a: Operand, axis: Axis, keepdims: bool) -> Typed:
    axes = axes_of(axis, a.ndim)
    if any(n == 0 for n in a.shape):
        g.lacks(f'{kind} of no elements')
    return reduced(g, kind, g.to(a, bool), axes, keepdims, np.int32)


@row('count_nonzero')
def _(g: RoutineWriter, a: Operand, axis: Axis = None, keepdims: bool = False) -> Typed:
    return reduced(g, 'Sum', g.to(a, bool), axes_of(axis, a.ndim), keepdims, np.int64)


def _position(name: str, op: str) -> None:
    def write(g: RoutineWriter, a: Operand, axis: Axis = None, keepdims: bool = False) -> Typed:
        work = np.dtype(np.int32) if a.dtype == bool else g.work_dtype(op, a.dtype)
        x, place, ndim = g.to(a, work), axis, a.ndim
        if axis is None:
            x, place, ndim = Typed(g.reshape(x, [-1]), work), 0, 1
        found = g.op(op, [x], axis=axis_of(place, ndim), keepdims=int(keepdims))
        if axis is None and keepdims and a.ndim != 1:
            found = g.reshape(found, [1] * a.ndim)
        return g.to(Typed(found, np.int64), g.dtype)

    row(name)(write)


_position('argmax', 'ArgMax')
_position('argmin', 'ArgMin')


@composed('var')
def _var(
    a: tp.Any,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    dtype: tp.Any = None,
    ddof: float = 0,
    correction: float = 0,
    mean: tp.Any = None,
) -> tp.Any:
    a = a.astype(dtype or chx.promote_types(a.dtype, 'float32'))
    center = chx.mean(a, axis, keepdims=True) if mean is None else mean
    squares = chx.square(a - center)
    if not ddof and not correction:
        return chx.mean(squares, axis, keepdims)
    return chx.sum(squares, axis, keepdims) / (_count(a, axis) - (ddof or correction))


def _count(a: tp.Any, axis: Axis) -> tp.Any:
    n: tp.Any = 1
    for i in axes_of(axis, a.ndim):
        n = n * a.shape[i]
    return n


@composed('std')
def _(
    a: tp.Any,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    dtype: tp.Any = None,
    ddof: float = 0,
    correction: float = 0,
    mean: tp.Any = None,
) -> tp.Any:
    found = _var(a, axis, keepdims, dtype=dtype, ddof=ddof, correction=correction, mean=mean)
    return chx.sqrt(found)


@composed('ptp')
def _(a: tp.Any, axis: Axis = None, keepdims: bool = False) -> tp.Any:
    return chx.amax(a, axis, keepdims) - chx.amin(a, axis, keepdims)


@composed('average')
def _(
    a: tp.Any,
    axis: Axis = None,
    weights: tp.Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> tp.Any:
    if weights is None:
        y = chx.mean(a, axis, keepdims)
        if not returned:
            return y
        n = _count(a, axis)
        return y, chx.ones_like(y) * n
    if len(weights.shape) != a.ndim:
        axes = axes_of(axis, a.ndim)
        places = axis if isinstance(axis, (tuple, list)) else (axis,)
        given = [axis_of(i, a.ndim) for i in places]
        weights = chx.transpose(weights, tuple([given.index(i) for i in axes]))
        weights = chx.expand_dims(weights, tuple([i for i in range(a.ndim) if i not in axes]))
    dtype = chx.promote_types(chx.result_type(a.dtype, weights.dtype), 'float32')
    dtype = a.dtype if a.dtype.name == weights.dtype.name == 'float16' else dtype
    a, weights = a.astype(dtype), weights.astype(dtype)
    total = chx.sum(chx.broadcast_to(weights, a.shape), axis, keepdims)
    y = chx.sum(a * weights, axis, keepdims) / total
    return (y, total) if returned else y


# Without nan


def _filled(a: tp.Any, value: float) -> tp.Any:
    return chx.where(chx.isnan(a), value, a) if a.dtype.kind in 'fV' else a


@composed('nansum')
def _(a: tp.Any, axis: Axis = None, keepdims: bool = False, **kwargs: tp.Any) -> tp.Any:
    return chx.sum(_filled(a, 0), axis, keepdims, **kwargs)


@composed('nanprod')
def _(a: tp.Any, axis: Axis = None, keepdims: bool = False, **kwargs: tp.Any) -> tp.Any:
    return chx.prod(_filled(a, 1), axis, keepdims, **kwargs)


@composed('nancumsum')
def _(a: tp.Any, axis: Axis = None, **kwargs: tp.Any) -> tp.Any:
    return chx.cumsum(_filled(a, 0), axis, **kwargs)


def _none_left(a: tp.Any, y: tp.Any, axis: Axis, keepdims: bool) -> tp.Any:
    if a.dtype.kind not in 'fV':
        return y
    return chx.where(chx.all(chx.isnan(a), axis, keepdims), float('nan'), y)


@composed('nanmax')
def _(a: tp.Any, axis: Axis = None, keepdims: bool = False) -> tp.Any:
    y = chx.amax(_filled(a, -np.inf), axis, keepdims)
    return _none_left(a, y, axis, keepdims)


@composed('nanmin')
def _(a: tp.Any, axis: Axis = None, keepdims: bool = False) -> tp.Any:
    y = chx.amin(_filled(a, np.inf), axis, keepdims)
    return _none_left(a, y, axis, keepdims)


@composed('nanargmax')
def _(a: tp.Any, axis: Axis = None, *, keepdims: bool = False) -> tp.Any:
    return chx.argmax(_filled(a, -np.inf), axis, keepdims=keepdims)


@composed('nanargmin')
def _(a: tp.Any, axis: Axis = None, *, keepdims: bool = False) -> tp.Any:
    return chx.argmin(_filled(a, np.inf), axis, keepdims=keepdims)


def _known(a: tp.Any, dtype: tp.Any) -> tp.Any:
    return chx.logical_not(chx.isnan(a)).astype(dtype)


@composed('nanmean')
def _(a: tp.Any, axis: Axis = None, keepdims: bool = False, *, dtype: tp.Any = None) -> tp.Any:
    a = _wide(a, dtype)
    return chx.sum(_filled(a, 0), axis, keepdims) / chx.sum(_known(a, a.dtype), axis, keepdims)


@composed('nanvar')
def _nanvar(
    a: tp.Any,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    dtype: tp.Any = None,
    ddof: float = 0,
    correction: float = 0,
    mean: tp.Any = None,
) -> tp.Any:
    a = a.astype(dtype or chx.promote_types(a.dtype, 'float32'))
    known = _known(a, a.dtype)
    center = chx.sum(_filled(a, 0), axis, True) / chx.sum(known, axis, True)
    center = center if mean is None else mean
    squares = _filled(chx.square(a - center), 0)
    n = chx.sum(known, axis, keepdims) - (ddof or correction)
    return chx.where(n > 0, chx.sum(squares, axis, keepdims) / n, float('nan'))


@composed('nanstd')
def _(
    a: tp.Any,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    dtype: tp.Any = None,
    ddof: float = 0,
    correction: float = 0,
    mean: tp.Any = None,
) -> tp.Any:
    found = _nanvar(a, axis, keepdims, dtype=dtype, ddof=ddof, correction=correction, mean=mean)
    return chx.sqrt(found)


# Along an axis


@row('cumsum')
def _(g: RoutineWriter, a: Operand, axis: Axis = None, dtype: tp.Any = None) -> Typed:
    g.need(11, 'CumSum')
    work = g.work_dtype('CumSum', g.dtype)
    x, place, ndim = g.to(a, work), axis, a.ndim
    if axis is None:
        x, place, ndim = Typed(g.reshape(x, [-1]), work), 0, 1
    place = g.const(axis_of(place, ndim), 'axis', np.int64)
    return Typed(g.op('CumSum', [x, place]), work)


@row('cumprod')
def _(g: RoutineWriter, a: Operand, axis: Axis = None, dtype: tp.Any = None) -> Typed:
    work = g.work_dtype('Mul', g.dtype)
    x, place, ndim = g.to(a, work), axis, a.ndim
    if axis is None:
        x, place, ndim = Typed(g.reshape(x, [-1]), work), 0, 1
    return Typed(_loops.cumprod(g, Term(g, x, work), axis_of(place, ndim), ndim), work)


@composed('cumulative_prod')
def _(
    x: tp.Any, *, axis: Axis = None, dtype: tp.Any = None, include_initial: bool = False
) -> tp.Any:
    x = chx.expand_dims(x, 0) if x.ndim == 0 else x
    axis = axis_of(0 if axis is None else axis, x.ndim)
    y = chx.cumprod(x, axis, dtype=dtype)
    if not include_initial:
        return y
    shape = tuple([1 if i == axis else n for i, n in enumerate(y.shape)])
    return chx.concatenate([chx.ones_like(y, shape=shape), y], axis)


@composed('nancumprod')
def _(a: tp.Any, axis: Axis = None, **kwargs: tp.Any) -> tp.Any:
    return chx.cumprod(_filled(a, 1), axis, **kwargs)


@composed('cumulative_sum')
def _(
    x: tp.Any, *, axis: Axis = None, dtype: tp.Any = None, include_initial: bool = False
) -> tp.Any:
    x = chx.expand_dims(x, 0) if x.ndim == 0 else x
    axis = axis_of(0 if axis is None else axis, x.ndim)
    y = chx.cumsum(x, axis, dtype=dtype)
    if not include_initial:
        return y
    shape = tuple([1 if i == axis else n for i, n in enumerate(y.shape)])
    return chx.concatenate([chx.zeros_like(y, shape=shape), y], axis)


@composed('diff')
def _(
    a: tp.Any, n: int = 1, axis: int = -1, prepend: tp.Any = None, append: tp.Any = None
) -> tp.Any:
    axis = axis % a.ndim
    parts = [_joined(prepend, a, axis), a, _joined(append, a, axis)]
    if prepend is not None or append is not None:
        a = chx.concatenate([p for p in parts if p is not None], axis)
    for _ in range(n):
        at = (slice(None),) * axis
        high, low = a[(*at, slice(1, None))], a[(*at, slice(None, -1))]
        a = chx.not_equal(high, low) if a.dtype == bool else high - low
    return a


def _joined(x: tp.Any, a: tp.Any, axis: int) -> tp.Any:
    if x is None:
        return None
    x = x if isinstance(x, chx.ndarray) else chx.asarray(x, device=a.device)
    if x.ndim == 0:
        shape = tuple([1 if i == axis else n for i, n in enumerate(a.shape)])
        return chx.broadcast_to(x, shape)
    return x
