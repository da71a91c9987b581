"""Batching rules of routines that join, split and construct arrays."""

from __future__ import annotations

import operator
import typing as tp

import chainerx
from chainerx.func import _batch
from chainerx.func._batch import Level, composed, full, is_array, is_batch, lift, rule, unwrap
from chainerx.func._rules_axes import _flat, _name, _size, axes_of, axis_of

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Axis, DeviceLike, DTypeLike, Operand, Routine, ShapeLike

# ---- put together -------------------------------------------------------------------------------


@composed('append')
def _append(arr: Operand, values: Operand, axis: int | None = None) -> Operand:
    values = _array(values, arr)
    if axis is None:
        return chainerx.concatenate([chainerx.ravel(arr), chainerx.ravel(values)])
    return chainerx.concatenate([arr, values], axis)


def _array(x: Operand, like: Operand) -> Operand:
    """An array or a batch unchanged; converts numbers and lists beside `like`."""
    return x if is_array(x) else chainerx.asarray(x, device=like.device)


@composed('column_stack')
def _column_stack(arrays: Operand) -> Operand:
    columns = [chainerx.reshape(x, (x.size, 1)) if x.ndim < 2 else x for x in arrays]
    return chainerx.concatenate(columns, 1)


@composed('block')
def _block(arrays: Operand) -> Operand:
    depth, ndim = _depth(arrays)
    return _block_part(arrays, depth, max(depth, ndim), 0)


def _depth(arrays: Operand) -> tuple[int, int]:
    """The nesting depth of the lists, and the maximum number of axes of their items."""
    if not isinstance(arrays, list):
        return 0, arrays.ndim if is_array(arrays) else 0
    if not arrays:
        raise ValueError('block: a list is empty')
    parts = [_depth(x) for x in arrays]
    if len({depth for depth, _ in parts}) > 1:
        raise ValueError('block: lists of several depths, expected one')
    return 1 + parts[0][0], max([ndim for _, ndim in parts])


def _block_part(arrays: Operand, depth: int, ndim: int, level: int) -> Operand:
    if level == depth:
        x = arrays if is_array(arrays) else chainerx.asarray(arrays)
        return chainerx.reshape(x, (*(1,) * (ndim - x.ndim), *x.shape))
    parts = [_block_part(x, depth, ndim, level + 1) for x in arrays]
    return chainerx.concatenate(parts, level - depth)


@rule('delete')
def _delete(
    level: Level, function: Routine, arr: Operand, obj: Operand, axis: int | None = None
) -> Operand:
    if is_batch(obj, level):
        return _batch.by_examples('delete', level, function, (arr, obj, axis), {})
    if axis is None:
        return function(_flat(arr.array), obj, 1)
    return function(arr.array, obj, axis_of('delete', axis, arr.ndim))


@rule('insert')
def _insert(
    level: Level,
    function: Routine,
    arr: Operand,
    obj: Operand,
    values: Operand,
    axis: int | None = None,
) -> Operand:
    if is_batch(obj, level):
        return _batch.by_examples('insert', level, function, (arr, obj, values, axis), {})
    if axis is None:
        arr, axis = chainerx.ravel(arr), 0
    axis = axis_of('insert', axis, arr.ndim)
    values = _array(values, arr)
    missing = arr.ndim - values.ndim
    if missing > 0:
        values = chainerx.reshape(values, (*(1,) * missing, *values.shape))
    if not is_array(obj) and not isinstance(obj, (slice, list, tuple)):
        # For a single index: the first axis of the values is the one that they are inserted along.
        values, obj = chainerx.moveaxis(values, 0, axis), [operator.index(obj)]
    return function(full(arr, level), obj, full(values, level), axis)


@composed('meshgrid')
def _meshgrid(
    *xi: Operand, copy: bool = False, sparse: bool = False, indexing: str = 'xy'
) -> Operand:
    if indexing not in ('xy', 'ij'):
        raise ValueError(f"meshgrid: indexing is {indexing!r}, expected 'xy' or 'ij'")
    order = list(range(len(xi)))
    if indexing == 'xy' and len(xi) > 1:
        order[:2] = [1, 0]
    shape = tuple([xi[i].size for i in order])
    grids = []
    for i, x in enumerate(xi):
        along = [1] * len(xi)
        along[order.index(i)] = x.size
        grid = chainerx.reshape(x, tuple(along))
        grids.append((grid if sparse else chainerx.broadcast_to(grid, shape)).copy())
    return tuple(grids)


@composed('ix_')
def _ix(*args: Argument) -> Operand:
    open_mesh = []
    for i, x in enumerate(args):
        if x.ndim != 1:
            raise chainerx.DimensionError(f'ix_: argument {i} has {x.ndim} axes, expected 1')
        index = chainerx.nonzero(x)[0] if x.dtype.kind == 'b' else x
        along = [1] * len(args)
        along[i] = index.size
        open_mesh.append(chainerx.reshape(index, tuple(along)))
    return tuple(open_mesh)


# ---- taken apart --------------------------------------------------------------------------------


@rule('unstack')
def _unstack(level: Level, function: Routine, x: Operand, axis: int = 0) -> Operand:
    return function(x.array, axis_of('unstack', axis, x.ndim))


@rule('diagonal', 'trace')
def _diagonal(
    level: Level,
    function: Routine,
    a: Operand,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *dtype: DTypeLike,
    **kw: Argument,
) -> Operand:
    op = _name(function)
    axes = axis_of(op, axis1, a.ndim, 'axis1'), axis_of(op, axis2, a.ndim, 'axis2')
    return function(a.array, offset, *axes, *dtype, **kw)


@rule('fliplr', 'flipud')
def _flip_one(level: Level, function: Routine, m: Operand) -> Operand:
    axis = 0 if _name(function) == 'flipud' else 1
    return chainerx.flip(m.array, axis_of(_name(function), axis, m.ndim))


@rule('rot90')
def _rot90(level: Level, function: Routine, m: Operand, k: int = 1, axes: Axis = (0, 1)) -> Operand:
    return function(m.array, k, axes_of('rot90', axes, m.ndim, 'axes'))


@rule('compress')
def _compress(
    level: Level, function: Routine, condition: Operand, a: Operand, axis: int | None = None
) -> Operand:
    condition = _batch.example(condition)
    if is_batch(condition, level):
        return _batch.by_examples('compress', level, function, (condition, a, axis), {})
    at = chainerx.nonzero(_array(condition, a))[0]
    return unwrap(chainerx.take(a, at, axis), level)


def refuse_mask() -> tp.NoReturn:
    """Raises, since the number of selected elements would differ between examples."""
    raise TypeError(
        'vmap: a mask that is another one for each example selects other numbers of elements; use '
        'chainerx.where'
    )


@composed('extract')
def _extract(condition: Operand, arr: Operand) -> Operand:
    return chainerx.compress(chainerx.ravel(_array(condition, arr)), chainerx.ravel(arr))


@composed('resize')
def _resize(a: Operand, new_shape: ShapeLike) -> Operand:
    shape = tuple(new_shape) if isinstance(new_shape, (tuple, list)) else (new_shape,)
    size = _size(shape)
    if a.size == 0 or size == 0:
        return chainerx.zeros(shape, a.dtype, device=a.device)
    at = chainerx.arange(size, dtype='int64', device=a.device) % a.size
    return chainerx.reshape(chainerx.take(a, at), shape)


# ---- built --------------------------------------------------------------------------------------


@composed('diag')
def _diag(v: Operand, k: int = 0) -> Operand:
    if v.ndim != 1:
        return chainerx.diagonal(v, k)
    # Row i has v[i] at i + k, or column i at i - k: broadcast along the other axis.
    widths = (0, k) if k >= 0 else (0, -k)
    along = chainerx.pad(v, [widths])
    n = v.size + abs(k)
    at = chainerx.eye(n, n, k, dtype='bool', device=v.device)
    return chainerx.where(at, chainerx.expand_dims(along, 1 if k >= 0 else 0), 0)


@composed('diagflat')
def _diagflat(v: Operand, k: int = 0) -> Operand:
    return _diag(chainerx.ravel(v), k)


@composed('vander')
def _vander(x: Operand, N: int | None = None, increasing: bool = False) -> Operand:
    if x.ndim != 1:
        raise chainerx.DimensionError(f'vander: x has {x.ndim} axes, expected 1')
    n = x.size if N is None else N
    wide: Operand = chainerx.ones_like(x, x.device)
    columns: list[Operand] = []
    for _ in range(n):
        columns.append(wide)
        wide = wide * x
    if not columns:
        return chainerx.zeros((x.size, 0), x.dtype, device=x.device)
    return chainerx.stack(columns if increasing else columns[::-1], 1)


@rule('full')
def _full(
    level: Level,
    function: Routine,
    shape: ShapeLike,
    fill_value: Operand,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Operand:
    lengths = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    x = lift(fill_value, level, len(lengths))
    x = chainerx.broadcast_to(x, (level.size, *lengths))
    return x.copy() if dtype is None else x.astype(dtype)


@rule('linspace', 'logspace', 'geomspace')
def _space(
    level: Level, function: Routine, start: Operand, stop: Operand, *args: Argument, **kw: Argument
) -> Operand:
    # The base of logspace may be an array, too.
    ndim = max([x.ndim for x in (start, stop, *args, *kw.values()) if is_array(x)])
    axis = kw.pop('axis', 0)
    if not -ndim - 1 <= axis <= ndim:
        raise chainerx.DimensionError(f'{_name(function)}: axis {axis} of {ndim + 1} axes')
    args = tuple([lift(x, level, ndim) if is_array(x) else x for x in args])
    kw = {key: lift(x, level, ndim) if is_array(x) else x for key, x in kw.items()}
    result = function(lift(start, level, ndim), lift(stop, level, ndim), *args, **kw)
    y, *step = result if kw.get('retstep') else (result,)
    y = chainerx.moveaxis(y, 0, 1 + axis % (ndim + 1))
    return (y, *step) if step else y


@rule('diag_indices_from', 'tril_indices_from', 'triu_indices_from')
def _indices_from(
    level: Level, function: Routine, arr: Operand, *k: Operand, **kw: Argument
) -> Operand:
    # Only the shape matters.
    return unwrap(function(arr.array[0], *k, **kw), level)


@rule('ravel_multi_index')
def _ravel_multi_index(
    level: Level, function: Routine, multi_index: Operand, *args: Argument, **kw: Argument
) -> Operand:
    parts = list(multi_index)
    ndim = max([x.ndim for x in parts if is_array(x)])
    return function(tuple([lift(x, level, ndim) for x in parts]), *args, **kw)


@rule('unravel_index')
def _unravel_index(
    level: Level, function: Routine, indices: Operand, *args: Argument, **kw: Argument
) -> Operand:
    return function(indices.array, *args, **kw)


@composed('polyval')
def _polyval(p: Operand, x: Operand) -> Operand:
    if p.ndim != 1:
        raise chainerx.DimensionError(f'polyval: p has {p.ndim} axes, expected 1')
    x = _array(x, p)
    y = chainerx.zeros_like(x, x.device)
    for i in range(p.size):
        y = y * x + p[i]
    return y
