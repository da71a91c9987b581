"""Shapes: axes, joining, splitting, copies."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainerx as chx
from chainerx.onnx._routine import (
    Operand,
    RoutineWriter,
    Typed,
    axes_of,
    axis_of,
    composed,
    row,
)
from chainerx.onnx._symbols import Length


@row(
    *('copy', 'ascontiguousarray', 'asfortranarray', 'asarray', 'asanyarray', 'ndarray.astype'),
    *('ndarray.as_grad_stopped', 'ndarray.to_device'),
)
def _(g: RoutineWriter, a: Operand, *args: tp.Any, **kwargs: tp.Any) -> Typed:
    if isinstance(a, (list, tuple)):
        return g.to(_stacked(g, a), g.dtype)
    return g.to(a, g.dtype)


@row('array')
def _(g: RoutineWriter, object: tp.Any, *args: tp.Any, **kwargs: tp.Any) -> str:
    x = _stacked(g, object)
    ndim = kwargs.get('ndmin', 0)
    return _turned(g, g.to(x, g.dtype), lambda y: g.unsqueeze(y, range(ndim - _ndim(object))))


def _ndim(x: tp.Any) -> int:
    if isinstance(x, (list, tuple)):
        return 1 + _ndim(x[0])
    return x.ndim if isinstance(x, Operand) else 0


def _turned(g: RoutineWriter, x: Typed, move: tp.Any) -> Typed:
    return Typed(move(x), x.dtype)


def _stacked(g: RoutineWriter, x: tp.Any) -> Typed:
    if isinstance(x, (list, tuple)):
        parts = [g.unsqueeze(_stacked(g, y), [0]) for y in x]
        return Typed(g.concat(parts), g.dtype)
    return g.to(x, g.dtype)


@row('ndarray.view')
def _(g: RoutineWriter, a: Operand, dtype: tp.Any = None) -> Typed:
    if g.dtype != a.dtype:
        g.lacks('operator that reads bytes as another dtype')
    return g.typed(a)


# Other shapes


def _resized(g: RoutineWriter, a: Operand, order: str) -> str:
    if order not in ('C', 'K', 'A'):
        g.lacks(f'order {order!r}')
    return g.shaped(a.name, g.out_shape)


@row('reshape')
def _(g: RoutineWriter, a: Operand, shape: tp.Any, *more: tp.Any, **kwargs: tp.Any) -> str:
    order = kwargs.get('order', 'C')
    target = list(shape) if isinstance(shape, (list, tuple)) else [shape, *more]
    if order == 'F':
        x = g.transpose(a.name, range(a.ndim)[::-1])
        return g.transpose(_reshaped(g, x, target[::-1]), range(len(target))[::-1])
    if order != 'C' and a.ndim > 1:
        g.lacks(f'order {order!r}')
    return _reshaped(g, a.name, target)


def _reshaped(g: RoutineWriter, x: str, target: list[tp.Any]) -> str:
    # Where the user gave -1, the runtime finds the length.
    if any(isinstance(n, (int, np.integer)) and n == -1 for n in target):
        if any(type(n) is int and n == 0 for n in target):
            return g.shaped(x, g.out_shape)
        return g.op('Reshape', [x, g.vector(target)])
    return g.shaped(x, target)


@row('ravel', 'ndarray.flatten')
def _(g: RoutineWriter, a: Operand, order: str = 'C') -> str:
    if order == 'F':
        return g.reshape(g.transpose(a.name, range(a.ndim)[::-1]), [-1])
    if order != 'C' and a.ndim > 1:
        g.lacks(f'order {order!r}')
    return g.reshape(a.name, [-1])


@row('squeeze')
def _(g: RoutineWriter, a: Operand, axis: tp.Any = None) -> str:
    if axis is None:
        axes = [i for i, n in enumerate(a.shape) if type(n) is int and n == 1]
    else:
        axes = axes_of(axis, a.ndim)
    return g.squeeze(a.name, axes)


@row('expand_dims')
def _(g: RoutineWriter, a: Operand, axis: tp.Any) -> str:
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = a.ndim + len(axes)
    return g.unsqueeze(a.name, sorted(axis_of(i, ndim) for i in axes))


@row('broadcast_to')
def _(g: RoutineWriter, array: Operand, shape: tp.Any) -> str:
    target = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    return expanded(g, array, target)


def expanded(g: RoutineWriter, a: Operand, target: list[tp.Any]) -> str:
    """The array in a shape to which it broadcasts."""
    lead = len(target) - a.ndim
    # Axes that it has stay as they are for a length of 1.
    wanted = [
        1 if i >= lead and not (type(a.shape[i - lead]) is int and a.shape[i - lead] == 1) else n
        for i, n in enumerate(target)
    ]
    return g.expand(g.to(a, a.dtype), wanted)


@row('broadcast_arrays')
def _(g: RoutineWriter, *args: Operand) -> tuple[str, ...]:
    shape = list(g.out_shape)
    g.need(8, 'Expand')
    whole = shape_together(g, args)
    return (
        tuple([g.op('Expand', [x.name, whole]) for x in args])
        if shape
        else tuple([x.name for x in args])
    )


def shape_together(g: RoutineWriter, xs: tp.Sequence[Operand]) -> str:
    """The shape to which arrays broadcast, a vector."""
    shapes = []
    ndim = max(x.ndim for x in xs)
    if all(type(n) is int for x in xs for n in x.shape):
        return g.ints(np.broadcast_shapes(*[x.shape for x in xs]), 'shape')
    g.need(12, 'Max of lengths')
    for x in xs:
        shapes.append(g.vector([1] * (ndim - x.ndim) + list(x.shape)))
    return shapes[0] if len(shapes) == 1 else g.op('Max', shapes)


# The order of axes


@row('transpose', 'ndarray.transpose')
def _(g: RoutineWriter, a: Operand, *axes: tp.Any, **kwargs: tp.Any) -> str:
    order = kwargs.get('axes', axes[0] if len(axes) == 1 else axes or None)
    if order is None:
        return g.transpose(a.name, list(range(a.ndim))[::-1])
    places = order if isinstance(order, (tuple, list)) else (order,)
    return g.transpose(a.name, [axis_of(i, a.ndim) for i in places])


@row('matrix_transpose', 'linalg.matrix_transpose')
def _(g: RoutineWriter, a: Operand) -> str:
    return g.transpose(a.name, [*range(a.ndim - 2), a.ndim - 1, a.ndim - 2])


def _mover(name: str, move: tp.Any) -> None:
    def write(g: RoutineWriter, a: Operand, *args: tp.Any, **kwargs: tp.Any) -> str:
        marked = move(np.empty(range(1, a.ndim + 1), np.void), *args, **kwargs)
        return g.transpose(a.name, [n - 1 for n in marked.shape])

    row(name)(write)


for _name in ('swapaxes', 'moveaxis', 'rollaxis'):
    _mover(_name, getattr(np, _name))


# Joining and splitting


def _concatenated(g: RoutineWriter, xs: tp.Sequence[tp.Any], axis: int) -> str:
    return g.concat([g.to(x, g.dtype) for x in xs], axis)


@row('concatenate')
def _(
    g: RoutineWriter,
    arrays: tp.Any,
    axis: int | None = 0,
    *,
    dtype: tp.Any = None,
    casting: str = '',
) -> str:
    if isinstance(arrays, Operand):
        g.lacks('Concat of the rows of an array')
    if axis is None:
        flat = [Typed(g.reshape(g.to(x, g.dtype), [-1]), g.dtype) for x in arrays]
        return _concatenated(g, flat, 0)
    return _concatenated(g, arrays, axis_of(axis, arrays[0].ndim))


@row('stack')
def _(
    g: RoutineWriter, arrays: tp.Any, axis: int = 0, *, dtype: tp.Any = None, casting: str = ''
) -> str:
    if isinstance(arrays, Operand):
        g.lacks('stack of the rows of an array')
    place = axis_of(axis, len(g.outs[0].shape))
    names = [Typed(g.unsqueeze(g.to(x, g.dtype), [place]), g.dtype) for x in arrays]
    return _concatenated(g, names, place)


def _atleast(x: tp.Any, ndim: int) -> tp.Any:
    x = x if isinstance(x, chx.ndarray) else chx.asarray(x)
    if ndim == 3 and x.ndim == 2:
        return chx.expand_dims(x, 2)
    if ndim == 3 and x.ndim == 1:
        return chx.expand_dims(x, (0, 2))
    return chx.expand_dims(x, tuple(range(ndim - x.ndim))) if x.ndim < ndim else x


def _atleast_nd(name: str, ndim: int) -> None:
    def compose(*arys: tp.Any) -> tp.Any:
        found = [_copied(_atleast(x, ndim)) for x in arys]
        return found[0] if len(found) == 1 else type_of_results(found)

    composed(name)(compose)


def type_of_results(found: list[tp.Any]) -> tp.Any:
    return tuple(found)


def _copied(x: tp.Any) -> tp.Any:
    return x


for _n in (1, 2, 3):
    _atleast_nd(f'atleast_{_n}d', _n)


def _rows_of(arrays: tp.Any) -> list[tp.Any]:
    if isinstance(arrays, chx.ndarray):
        return [arrays[i] for i in range(len(arrays))]
    return [x if isinstance(x, chx.ndarray) else chx.asarray(x) for x in arrays]


@composed('vstack')
def _(arrays: tp.Any, **kwargs: tp.Any) -> tp.Any:
    return chx.concatenate([_atleast(x, 2) for x in _rows_of(arrays)], 0, **kwargs)


@composed('hstack')
def _(arrays: tp.Any, **kwargs: tp.Any) -> tp.Any:
    xs = [_atleast(x, 1) for x in _rows_of(arrays)]
    return chx.concatenate(xs, 0 if xs[0].ndim == 1 else 1, **kwargs)


@composed('dstack')
def _(arrays: tp.Any) -> tp.Any:
    return chx.concatenate([_atleast(x, 3) for x in _rows_of(arrays)], 2)


@composed('column_stack')
def _(arrays: tp.Any) -> tp.Any:
    xs = [chx.reshape(x, (-1, 1)) if x.ndim < 2 else x for x in _rows_of(arrays)]
    return chx.concatenate(xs, 1)


@composed('block')
def _(arrays: tp.Any) -> tp.Any:
    def depth(x: tp.Any) -> int:
        return 1 + max(map(depth, x)) if isinstance(x, list) else 0

    def ndim(x: tp.Any) -> int:
        return max(map(ndim, x)) if isinstance(x, list) else getattr(x, 'ndim', 0)

    levels = depth(arrays)
    n = max(levels, ndim(arrays))

    def join(x: tp.Any, level: int) -> tp.Any:
        if isinstance(x, list):
            return chx.concatenate([join(y, level + 1) for y in x], level - levels)
        x = x if isinstance(x, chx.ndarray) else chx.asarray(x)
        return chx.expand_dims(x, tuple(range(n - x.ndim))) if x.ndim < n else x

    return join(arrays, 0)


@composed('append')
def _(arr: tp.Any, values: tp.Any, axis: int | None = None) -> tp.Any:
    xs = [x if isinstance(x, chx.ndarray) else chx.asarray(x) for x in (arr, values)]
    return chx.concatenate(xs, axis)


def _split(g: RoutineWriter, ary: Operand, parts: tp.Any, axis: int) -> tuple[str, ...]:
    place = axis_of(axis, ary.ndim)
    if isinstance(parts, Operand):
        if parts.array is None:
            g.lacks('split at positions that are values')
        parts = parts.array.tolist()
    sizes = [value.shape[place] for value in g.outs]
    if type(ary.shape[place]) is not int or sum(sizes) != ary.shape[place]:
        if isinstance(parts, int):
            g.lacks('split of an open axis into equal parts')
        ends = [*[int(n) for n in parts], 2**62]
        starts = [0, *ends[:-1]]
        pairs = zip(starts, ends, strict=True)
        return tuple([g.slice(ary.name, [a], [b], [place]) for a, b in pairs])
    return g.split(ary.name, sizes, place)


@row('split', 'array_split')
def _(g: RoutineWriter, ary: Operand, indices_or_sections: tp.Any, axis: int = 0) -> tp.Any:
    return _split(g, ary, indices_or_sections, axis)


@row('hsplit')
def _(g: RoutineWriter, ary: Operand, indices_or_sections: tp.Any) -> tp.Any:
    return _split(g, ary, indices_or_sections, 0 if ary.ndim == 1 else 1)


@row('vsplit')
def _(g: RoutineWriter, ary: Operand, indices_or_sections: tp.Any) -> tp.Any:
    return _split(g, ary, indices_or_sections, 0)


@row('dsplit')
def _(g: RoutineWriter, ary: Operand, indices_or_sections: tp.Any) -> tp.Any:
    return _split(g, ary, indices_or_sections, 2)


@row('unstack')
def _(g: RoutineWriter, x: Operand, axis: int = 0) -> tuple[str, ...]:
    place = axis_of(axis, x.ndim)
    n = x.shape[place]
    parts = g.split(x.name, [1] * n, place) if n else ()
    return tuple([g.squeeze(p, [place]) for p in parts])


# Repeating


@row('tile')
def _(g: RoutineWriter, A: Operand, reps: tp.Any) -> str:
    times = list(reps) if isinstance(reps, (tuple, list)) else [reps]
    x = g.unsqueeze(A.name, range(len(times) - A.ndim))
    times = [1] * (A.ndim - len(times)) + times
    if not times:
        return x
    work = _movable(g, 'Tile', A.dtype)
    x = g.to(Typed(x, A.dtype), work)
    return Typed(g.op('Tile', [x, g.vector(times)]), work)


def _movable(g: RoutineWriter, op: str, dtype: tp.Any) -> np.dtype:
    """The dtype in which runtimes move elements by an operator that lacks small ones."""
    names = {'int16': 'int32', 'uint16': 'int32'}
    return np.dtype(names.get(np.dtype(dtype).name, dtype))


@row('repeat')
def _(g: RoutineWriter, a: Operand, repeats: tp.Any, axis: int | None = None) -> str:
    if isinstance(repeats, Operand):
        if repeats.array is None:
            g.lacks('repeat by numbers that are values')
        repeats = repeats.array
    x, place, n, ndim = a.name, axis, 0, a.ndim
    if axis is None:
        x, place, ndim = g.reshape(x, [-1]), 0, 1
        n = int(np.prod([int(m) for m in a.shape]))
    else:
        place = axis_of(axis, a.ndim)
        n = a.shape[place]
    times = np.asarray(repeats)
    if times.size != 1:
        places = np.repeat(np.arange(int(n)), times)
        return g.op('Gather', [x, g.ints(places, 'indices')], axis=place)
    x = g.unsqueeze(x, [place + 1])
    reps = [1] * (ndim + 1)
    reps[place + 1] = int(times.ravel()[0])
    work = _movable(g, 'Tile', a.dtype)
    y = Typed(g.op('Tile', [g.to(Typed(x, a.dtype), work), g.vector(reps)]), work)
    return Typed(g.shaped(y, g.out_shape) if axis is not None else g.reshape(y, [-1]), work)


@row('resize')
def _(g: RoutineWriter, a: Operand, new_shape: tp.Any) -> str:
    n, wanted = int(np.prod(a.shape)), int(np.prod(g.outs[0].shape))
    if not n or not wanted:
        g.lacks('resize of no elements')
    places = np.arange(wanted) % n
    flat = g.reshape(a.name, [-1])
    return g.shaped(g.op('Gather', [flat, g.ints(places, 'indices')], axis=0), g.out_shape)


@row('flip')
def _(g: RoutineWriter, m: Operand, axes: tp.Any = None, *, axis: tp.Any = None) -> str:
    return flipped(g, m.name, axes_of(axes if axis is None else axis, m.ndim))


@row('fliplr')
def _(g: RoutineWriter, m: Operand) -> str:
    return flipped(g, m.name, [1])


@row('flipud')
def _(g: RoutineWriter, m: Operand) -> str:
    return flipped(g, m.name, [0])


def flipped(g: RoutineWriter, x: str, axes: tp.Sequence[int]) -> str:
    """The elements in the opposite order."""
    n = len(axes)
    return g.slice(x, [-1] * n, [-(2**62)] * n, axes, [-1] * n)


@composed('roll')
def _(a: tp.Any, shift: tp.Any, axis: tp.Any = None) -> tp.Any:
    if isinstance(shift, chx.ndarray):
        raise TypeError('export: roll: shift is an array, expected ints')
    if axis is None:
        return chx.reshape(chx.roll(chx.ravel(a), shift, 0), a.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift] * len(axes)
    axes = list(axes) * len(shifts) if len(axes) == 1 else axes
    for n, i in zip(shifts, axes, strict=True):
        at = (slice(None),) * axis_of(i, a.ndim)
        length = a.shape[axis_of(i, a.ndim)]
        if not int(length) or not n:
            continue
        if not isinstance(length, Length):
            n = n % length
            if not n:
                continue
        a = chx.concatenate([a[(*at, slice(-n, None))], a[(*at, slice(None, -n))]], i)
    return a


@composed('rot90')
def _(m: tp.Any, k: int = 1, axes: tp.Any = (0, 1)) -> tp.Any:
    first, second = (axis_of(i, m.ndim) for i in axes)
    k %= 4
    if k == 2:
        return chx.flip(m, (first, second))
    if k == 1:
        return chx.swapaxes(chx.flip(m, second), first, second)
    if k == 3:
        return chx.flip(chx.swapaxes(m, first, second), second)
    return chx.copy(m)


@composed('fft.fftshift')
def _(x: tp.Any, axes: tp.Any = None) -> tp.Any:
    chosen = axes_of(axes, x.ndim)
    return chx.roll(x, tuple([x.shape[i] // 2 for i in chosen]), tuple(chosen))


@composed('fft.ifftshift')
def _(x: tp.Any, axes: tp.Any = None) -> tp.Any:
    chosen = axes_of(axes, x.ndim)
    return chx.roll(x, tuple([-(x.shape[i] // 2) for i in chosen]), tuple(chosen))


# Filled arrays


def _like(name: str, value: float) -> None:
    def write(
        g: RoutineWriter,
        a: Operand,
        device: tp.Any = None,
        *,
        dtype: tp.Any = None,
        shape: tp.Any = None,
    ) -> str:
        return _full(g, a, value, shape)

    row(name)(write)


def _full(g: RoutineWriter, a: Operand, value: tp.Any, shape: tp.Any) -> str:
    one = g.to(value, g.dtype)
    if shape is None:
        return g.expand(one, a.shape) if a.ndim else one
    return g.expand(one, shape if isinstance(shape, (tuple, list)) else [shape])


_like('zeros_like', 0)
_like('ones_like', 1)
_like('empty_like', 0)


@row('full_like')
def _(
    g: RoutineWriter,
    a: Operand,
    fill_value: tp.Any,
    device: tp.Any = None,
    *,
    dtype: tp.Any = None,
    shape: tp.Any = None,
) -> str:
    return _full(g, a, fill_value, shape)


@row('full')
def _(
    g: RoutineWriter, shape: tp.Any, fill_value: tp.Any, dtype: tp.Any = None, device: tp.Any = None
) -> str:
    target = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    return g.expand(g.to(fill_value, g.dtype), target)


# Padding


@row('pad')
def _(
    g: RoutineWriter,
    array: Operand,
    pad_width: tp.Any,
    mode: str = 'constant',
    constant_values: tp.Any = 0,
) -> Typed:
    if callable(mode) or mode not in ('constant', 'edge', 'reflect', 'empty', 'wrap'):
        g.lacks(f'mode {mode!r} of Pad')
    kind = 'constant' if mode == 'empty' else mode
    if kind == 'wrap':
        g.need(19, 'mode wrap of Pad')
    if array.ndim == 0:
        return g.typed(array)
    if isinstance(pad_width, dict):
        width = np.zeros((array.ndim, 2), int)
        for axis, pair in pad_width.items():
            width[axis] = pair
    else:
        width = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2))
    if kind == 'reflect':
        long = [i for i, n in enumerate(array.shape) if type(n) is int and max(width[i]) >= n]
        if long:
            g.lacks(f'mode reflect that is longer than axis {long[0]}')
    if isinstance(constant_values, Operand):
        constant_values = constant_values.array
    values = np.asarray(constant_values)
    if values.dtype == object or (values.size > 1 and len(np.unique(values)) > 1):
        g.lacks('Pad with several values')
    value = values.ravel()[0] if values.size else 0
    work = g.work_dtype('Pad', g.dtype) if g.dtype != bool else np.dtype(np.int32)
    pads = [*width[:, 0].tolist(), *width[:, 1].tolist()]
    return Typed(g.pad(g.to(array, work), pads, value, work, kind), work)
