"""Batching rules of indexing: with integers, slices and arrays, read and written."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx.func._batch import (
    AT,
    Batched,
    Level,
    call,
    example,
    full,
    is_array,
    is_batch,
    lift,
    need_batch,
    rule,
)
from chainerx.func._rules_axes import axis_of
from chainerx.func._rules_shapes import refuse_mask

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Index, Operand, Routine

# ---- indexing ------------------------------------------------------------------------------------


@rule('take')
def _take(
    level: Level,
    function: Routine,
    a: Operand,
    indices: Operand,
    axis: int | None = None,
    mode: str | None = None,
) -> Operand:
    options = {} if mode is None else {'mode': mode}
    if axis is None:
        a = chainerx.ravel(a)
        axis = 0
    axis = axis_of('take', axis, a.ndim) + a.ndim
    if not is_batch(indices, level):
        return function(a.array, indices, axis + 1, **options)
    if not is_batch(a, level):
        y = function(a, indices.array, axis, **options)
        return chainerx.moveaxis(y, axis, 0)
    ndim = indices.ndim
    rows = chainerx.moveaxis(a.array, axis + 1, 1)
    index = _in_range(indices.array, rows.shape[1], mode)
    examples = chainerx.arange(level.size, dtype='int64', device=a.device)
    y = rows[chainerx.reshape(examples, (level.size, *(1,) * ndim)), index]
    # (batch, indices, rest): the indices go to the axis.
    order = [0, *range(1 + ndim, 1 + ndim + axis), *range(1, 1 + ndim)]
    order += range(1 + ndim + axis, y.ndim)
    return chainerx.transpose(y, tuple(order))


def _in_range(index: Index, n: int, mode: str | None) -> Operand:
    """Maps indices to the range that x[...] accepts, as `take` does with this mode."""
    if mode == 'clip':
        return chainerx.clip(index, 0, n - 1)
    return chainerx.remainder(index, n) if mode == 'wrap' else index


@rule('ndarray.__getitem__')
def _getitem(level: Level, function: Routine, x: Operand, index: Index) -> Operand:
    items = list(index) if isinstance(index, tuple) else [index]
    if not any(is_array(item) or isinstance(item, list) for item in items):
        return function(x.array, (slice(None), *items))  # x is the batch
    return _gather(level, function, x, _expand(x, items))


def _expand(x: Operand, items: list[Index]) -> list[Operand]:
    """Replaces '...' by slices, so that there is one item for each axis."""
    items = [
        chainerx.asarray(item, dtype=None if item else 'int64', device=x.device)
        if isinstance(item, list)
        else item
        for item in items
    ]
    if any(isinstance(item, bool) for item in items):
        raise chainerx.NotImplementedError('vmap: a bool beside arrays as indices: use None for it')
    used = 0
    for item in items:
        if item is not None and item is not Ellipsis:
            is_mask = is_array(item) and item.dtype.kind == 'b'
            used += item.ndim if is_mask else 1
    if used > x.ndim:
        raise IndexError(f'getitem: {used} indices for an array of {x.ndim} axes')
    rest = [slice(None)] * (x.ndim - used)
    at = [i for i, item in enumerate(items) if item is Ellipsis]
    if not at:
        return items + rest
    return items[: at[0]] + rest + items[at[0] + 1 :]


def _gather(level: Level, function: Routine, x: Operand, items: list[Index]) -> Operand:
    """Indexes with arrays among the indices."""
    index, order, start = _translate(level, x, items)
    if not is_batch(x, level):
        return chainerx.moveaxis(function(x, index), start, 0)
    y = function(x.array, index)
    return chainerx.transpose(y, order)


def _translate(
    level: Level, x: Operand, items: list[Index]
) -> tuple[tuple[Index, ...], tuple[int, ...], int]:
    """The index into the array of all, and how what it picks is turned to be as of examples.

    If `x` is no batch, the batch is an axis of the indices, and the last result says where.
    """
    # Masks become the indices of the selected elements.
    positions: list[Operand] = []
    for item in items:
        if is_array(item) and item.dtype.kind == 'b':
            mask = example(item)
            if is_batch(item, level) and type(mask) is Batched:
                refuse_mask()
            positions += list(chainerx.nonzero(mask))
        else:
            positions.append(item)
    # An integer beside arrays counts as an array.
    advanced = [i for i, item in enumerate(positions) if is_array(item) or isinstance(item, int)]
    ndim = max([0, *[positions[i].ndim for i in advanced if is_array(positions[i])]])
    together = advanced == list(range(advanced[0], advanced[-1] + 1))
    # The position of the index axes in the result of an example, after axes of slices and None.
    start = advanced[0] if together else 0
    lifted = tuple([lift(item, level, ndim) if is_array(item) else item for item in positions])
    if not is_batch(x, level):
        return lifted, (), start
    examples = chainerx.arange(level.size, dtype='int64', device=x.device)
    examples = chainerx.reshape(examples, (level.size, *(1,) * ndim))
    # The batch is the first index, so all index axes come first: (batch, indices, rest) if other
    # items separate them; they are moved to their position in the result of an example.
    n_rest = sum(1 for item in positions if item is None or isinstance(item, slice))
    order = [0, *range(1 + ndim, 1 + ndim + start), *range(1, 1 + ndim)]
    order += range(1 + ndim + start, 1 + ndim + n_rest)
    return (examples, *lifted), tuple(order), start


def _items(index: Index) -> tuple[list[Index], bool]:
    """The parts of an index, and whether arrays are among them."""
    items = list(index) if isinstance(index, tuple) else [index]
    return items, any(is_array(item) or isinstance(item, list) for item in items)


def _place(level: Level, x: Operand, index: Index, value: Operand) -> tuple[Operand, Operand]:
    """For writing: the index into the array of all examples, and the values in matching axes."""
    items, with_arrays = _items(index)
    if not with_arrays:
        if is_batch(value, level):
            ndim = x.array[(slice(None), *items)].ndim - 1
            value = lift(_without_ones(value, ndim), level, ndim)
            value = value.array if is_batch(value, level) else value
        return (slice(None), *items), value
    full_index, order, _ = _translate(level, x, _expand(x, items))
    if not is_array(value):
        return full_index, value
    value = _without_ones(value, len(order) - 1)
    # Broadcasts to the axes of the selected elements.
    turned = full(value, level)
    missing = len(order) - turned.ndim
    turned = chainerx.reshape(turned, (level.size, *(1,) * missing, *turned.shape[1:]))
    back = sorted(range(len(order)), key=lambda k: order[k])
    return full_index, chainerx.transpose(turned, tuple(back))


def _without_ones(value: Operand, ndim: int) -> Operand:
    """Drops leading axes of length 1, down to `ndim` axes."""
    extra = value.ndim - ndim
    if extra <= 0:
        return value
    if any(n != 1 for n in value.shape[:extra]):
        raise chainerx.DimensionError(
            f'setitem: value of shape {value.shape} into a place of {ndim} axes'
        )
    return chainerx.reshape(value, value.shape[extra:])


def _mask_of_each(x: Operand, index: Index) -> tuple[Operand, int] | None:
    """A mask that is another one for each example, with as many axes as `x`, if it is all there is.

    Also the number of axes behind it.
    """
    items, _ = _items(index)
    masks = [example(i) for i in items if is_array(i) and i.dtype.kind == 'b']
    if len(masks) != 1 or type(masks[0]) is not Batched:
        return None
    mask: Operand = masks[0]
    items = _expand(x, items)
    before = next(n for n, item in enumerate(items) if is_array(item))
    if any(item != slice(None) for item in items[:before] + items[before + 1 :]):
        return None
    behind = x.ndim - before - mask.ndim
    if mask.shape != x.shape[before : x.ndim - behind]:
        raise IndexError(
            f'getitem: a bool index of shape {mask.shape} does not match one of shape {x.shape}'
        )
    return chainerx.reshape(mask, (*(1,) * before, *mask.shape, *(1,) * behind)), behind


def _for_any_mask(op: str, value: Operand, behind: int, x: Operand) -> Operand:
    """Values that broadcast to any number of selected elements."""
    if isinstance(value, (list, tuple)):
        value = chainerx.asarray(value, device=x.device)
    if not is_array(value):
        return value
    extra = value.ndim - behind
    if extra > 0 and any(n != 1 for n in value.shape[:extra]):
        raise TypeError(
            f'vmap: {op}: values of shape {value.shape} would be one for each element that a mask '
            'selects, of which each example has another number; give one value for all, or use '
            'chainerx.where'
        )
    return _without_ones(value, behind)


@rule('ndarray.__setitem__')
def _setitem(level: Level, function: Routine, x: Operand, index: Index, value: Operand) -> None:
    need_batch('setitem', x, level)
    found = _mask_of_each(x, index)
    if found is not None:
        written = chainerx.zeros_like(x, x.device)
        written[...] = _for_any_mask('setitem', value, found[1], x)
        x[...] = chainerx.where(found[0], written, x)
        return
    full_index, value = _place(level, x, index, value)
    x.array[full_index] = value


# ---- x.at[index] --------------------------------------------------------------------------------


class At:
    """`x.at[index]`, where one of `x`, the index and the values is a batch."""

    def __init__(self, x: Operand, index: Index) -> None:
        self.x = x
        self.index = index

    set: tp.Any  # and the other updates, below

    def get(self) -> Operand:
        """The elements, a copy."""
        return self.x[self.index].copy()

    def apply(self, func: Routine) -> Operand:
        """Applies a function to the elements."""
        return self.set(func(self.get()))


class Indexer:
    """`x.at`."""

    def __init__(self, x: Operand) -> None:
        self.x = x

    def __getitem__(self, index: Index) -> At:
        return At(self.x, index)


def _update(name: str) -> Operand:
    def update(x: Operand, index: Index, values: Operand) -> Operand:
        return getattr(x.at[index], name)(values)

    def method(self: At, values: Operand) -> Operand:
        return call(f'ndarray.at.{name}', update, (self.x, self.index, values), {})

    def batching(level: Level, _: object, x: Operand, index: Index, values: Operand) -> Operand:
        if not is_batch(x, level):
            x = Batched(full(x, level), level)
        found = _mask_of_each(x, index)
        if found is not None:
            mask, behind = found
            values = _for_any_mask(f'at[].{name}', values, behind, x)
            # The derivatives of unchanged elements do not depend on the update, whatever its value.
            picked = chainerx.where(mask, x, chainerx.ones_like(x, x.device))
            y = getattr(picked.at[...], name)(values)
            return full(chainerx.where(mask, y, x.astype(y.dtype, copy=False)), level)
        full_index, values = _place(level, x, index, values)
        return getattr(x.array.at[full_index], name)(values)

    rule(f'ndarray.at.{name}')(batching)
    method.__name__ = name
    return method


_UPDATES = 'set add subtract multiply mul divide power min max'
for _name_of_update in _UPDATES.split():
    setattr(At, _name_of_update, _update(_name_of_update))
AT.append(At)


@rule('add_at')
def _add_at(level: Level, function: Routine, a: Operand, indices: Operand, b: Operand) -> Operand:
    need_batch('add_at', a, level)
    full_index, b = _place(level, a, indices, b)
    return function(a.array, full_index, b)


# ---- along an axis ------------------------------------------------------------------------------


@rule('take_along_axis')
def _take_along_axis(
    level: Level, function: Routine, arr: Operand, indices: Operand, axis: int = -1
) -> Operand:
    if axis is None:
        arr, axis = chainerx.ravel(arr), 0
    return function(
        full(arr, level), full(indices, level), axis_of('take_along_axis', axis, arr.ndim)
    )


@rule('put_along_axis')
def _put_along_axis(
    level: Level,
    function: Routine,
    arr: Operand,
    indices: Operand,
    values: Operand,
    axis: int = -1,
) -> Operand:
    need_batch('put_along_axis', arr, level)
    if axis is None:
        return put(
            arr,
            chainerx.ravel(indices),
            chainerx.ravel(chainerx.broadcast_to(_array(values, arr), indices.shape)),
        )
    values = lift(values, level, arr.ndim)
    axis = axis_of('put_along_axis', axis, arr.ndim)
    return function(arr.array, full(indices, level), values, axis)


# ---- written in place ---------------------------------------------------------------------------


def _array(x: Operand, like: Operand) -> Operand:
    return x if is_array(x) else chainerx.asarray(x, device=like.device)


@rule('put')
def _put(
    level: Level, function: Routine, a: Operand, ind: Operand, v: Operand, mode: str = 'raise'
) -> None:
    need_batch('put', a, level)
    put(a, ind, v, mode)


def put(a: Operand, ind: Operand, v: Operand, mode: str = 'raise') -> None:
    """Writes to flat indices in C order; the values repeat if there are too few."""
    ind, v = chainerx.ravel(_array(ind, a)), chainerx.ravel(_array(v, a))
    if ind.size == 0 or v.size == 0:
        return
    n = a.size
    if mode == 'clip':
        ind = chainerx.clip(ind, 0, n - 1)
    elif mode == 'wrap':
        ind = chainerx.remainder(ind, n)
    else:
        ind = chainerx.where(ind < 0, ind + n, ind)
    places = chainerx.unravel_index(ind, a.shape) if a.ndim else ()
    values = chainerx.resize(v, ind.shape).astype(a.dtype, copy=False)
    if a.ndim:
        a[tuple(places)] = values
    else:
        a[...] = values[-1]


@rule('putmask')
def _putmask(level: Level, function: Routine, a: Operand, mask: Operand, values: Operand) -> None:
    need_batch('putmask', a, level)
    values = _array(values, a)
    if values.size == 0:
        return
    values = chainerx.resize(values, a.shape).astype(a.dtype, copy=False)
    a[...] = chainerx.where(chainerx.reshape(_array(mask, a), a.shape), values, a)


@rule('place')
def _place_in(level: Level, function: Routine, arr: Operand, mask: Operand, vals: Operand) -> None:
    need_batch('place', arr, level)
    mask = chainerx.ravel(_array(mask, arr)).astype('bool', copy=False)
    vals = chainerx.ravel(_array(vals, arr)).astype(arr.dtype, copy=False)
    if vals.size == 0:  # correct if nothing is written in any example
        nothing = chainerx.zeros((0,), arr.dtype, device=arr.device)
        function(arr.array, full(chainerx.reshape(mask, arr.shape), level), nothing)
        return
    nth = chainerx.cumsum(mask.astype('int64')) - 1
    values = chainerx.take(vals, chainerx.remainder(nth, vals.size))
    written = chainerx.where(mask, values, chainerx.ravel(arr))
    arr[...] = chainerx.reshape(written, arr.shape)


@rule('copyto')
def _copyto(
    level: Level,
    function: Routine,
    dst: Operand,
    src: Operand,
    casting: str = 'no',
    where: object = True,
) -> None:
    need_batch('copyto', dst, level)
    return function(dst.array, lift(src, level, dst.ndim), casting, lift(where, level, dst.ndim))


@rule('fill_diagonal')
def _fill_diagonal(
    level: Level, function: Routine, a: Operand, val: Operand, wrap: bool = False
) -> None:
    need_batch('fill_diagonal', a, level)
    at = chainerx.zeros(a.shape, 'bool', device=a.device)
    function(at, True, wrap)
    chainerx.place(a, at, _array(val, a))


@rule('ndarray.sort')
def _sort_in_place(
    level: Level, function: Routine, a: Operand, axis: int = -1, *rest: Operand, **kw: Argument
) -> None:
    need_batch('sort', a, level)
    function(a.array, axis_of('sort', axis, a.ndim), *rest, **kw)


@rule('ndarray.partition')
def _partition_in_place(
    level: Level,
    function: Routine,
    a: Operand,
    kth: int | tuple[int, ...],
    axis: int = -1,
    *rest: Operand,
) -> None:
    need_batch('partition', a, level)
    function(a.array, kth, axis_of('partition', axis, a.ndim), *rest)
