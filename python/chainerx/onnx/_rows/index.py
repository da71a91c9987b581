"""Indexing, read and written."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainerx as chx
from chainerx.onnx import _index
from chainerx.onnx._routine import (
    Operand,
    RoutineWriter,
    Typed,
    UnknownLength,
    axis_of,
    composed,
    row,
)
from chainerx.onnx._symbols import Length


def _entry(g: RoutineWriter, i: tp.Any) -> _index.Entry:
    if isinstance(i, Operand):
        return _index.entry(i.array) if i.array is not None else _value(i)
    if isinstance(i, slice):
        return slice(*[_bound(g, n) for n in (i.start, i.stop, i.step)])
    if isinstance(i, Length):
        return i
    if isinstance(i, list):
        return _index.entry(np.asarray(i, np.int64 if not i else None))
    return _index.entry(i)


def _value(i: Operand) -> _index.Value:
    return _index.Value(i.name, i.ndim, i.dtype)


def _bound(g: RoutineWriter, n: tp.Any) -> tp.Any:
    if isinstance(n, Operand):
        if n.array is None:
            g.lacks('slice whose bounds are values', 'chainerx.take reads computed positions')
        return int(n.array)
    return n


def _entries(g: RoutineWriter, index: tp.Any) -> list[_index.Entry]:
    return [_entry(g, i) for i in (index if isinstance(index, tuple) else (index,))]


@row('ndarray.__getitem__')
def _(g: RoutineWriter, x: Operand, index: tp.Any) -> str:
    entries = _entries(g, index)
    bounds = [e for e in entries if isinstance(e, Length)]
    bounds += [n for e in entries if isinstance(e, slice) for n in (e.start, e.stop, e.step)]
    if any(isinstance(n, (Length, UnknownLength)) for n in bounds):
        return _open_slices(g, x, entries)
    return _index.get_item(g, x.name, x.shape, entries)


def _open_slices(g: RoutineWriter, x: Operand, entries: list[_index.Entry]) -> str:
    """Slices whose bounds follow from lengths."""
    if any(isinstance(e, _index.ARRAYS) for e in entries):
        g.lacks('slices of open lengths beside arrays', 'index twice')
    g.need(10, 'Slice with computed bounds')
    used = sum(e is not None and e is not Ellipsis for e in entries)
    place = next((i for i, e in enumerate(entries) if e is Ellipsis), len(entries))
    whole = list(entries)
    whole[place : place + 1] = [slice(None)] * (x.ndim - used)
    starts: list[tp.Any] = []
    ends: list[tp.Any] = []
    steps: list[tp.Any] = []
    for e in (e for e in whole if e is not None):
        if isinstance(e, int):
            starts.append(e)
            ends.append(e + 1 if e != -1 else _index.LAST)
            steps.append(1)
            continue
        step = 1 if e.step is None else e.step
        forward = int(step) > 0
        starts.append((0 if forward else -1) if e.start is None else e.start)
        ends.append((_index.LAST if forward else -_index.LAST) if e.stop is None else e.stop)
        steps.append(step)
    axes = g.ints(range(x.ndim), 'axes')
    y = g.op('Slice', [x.name, g.vector(starts), g.vector(ends), axes, g.vector(steps)])
    kept = [e for e in whole if e is not None]
    y = g.squeeze(y, [i for i, e in enumerate(kept) if isinstance(e, int)])
    shown = [e for e in whole if not isinstance(e, int)]
    return g.unsqueeze(y, [i for i, e in enumerate(shown) if e is None])


# Taking


def _in_range(g: RoutineWriter, i: tp.Any, n: tp.Any, mode: str | None) -> str:
    name = g.to(i, np.int64)
    if mode == 'clip':
        last = g.run('Sub', n, 1, dtype=np.int64)
        return g.run('Min', g.run('Max', name, 0, dtype=np.int64), last, dtype=np.int64)
    if mode == 'wrap':
        g.need(10, 'Mod')
        return g.run('Mod', name, n, dtype=np.int64)
    return name


@row('take')
def _(
    g: RoutineWriter, a: Operand, indices: tp.Any, axis: int | None = None, mode: str | None = None
) -> str:
    x, place = a.name, axis
    n: tp.Any
    if axis is None:
        x, place = g.reshape(x, [-1]), 0
        n = 1
        for m in a.shape if mode in ('clip', 'wrap') else ():
            n = n * m
    else:
        place = axis_of(axis, a.ndim)
        n = a.shape[place]
    if isinstance(indices, (list, tuple, int)):
        indices = np.asarray(indices, np.int64)
        name = g.to(indices, np.int64)
    else:
        name = g.to(indices, np.int64)
    name = Typed(_in_range(g, name, n, mode), np.int64)
    return g.op('Gather', [x, name], axis=place)


@row('take_along_axis')
def _(g: RoutineWriter, arr: Operand, indices: Operand, axis: int | None = -1) -> str:
    g.need(11, 'GatherElements')
    if axis is None:
        flat = [g.reshape(arr.name, [-1]), g.reshape(g.to(indices, np.int64), [-1])]
        return g.op('GatherElements', flat, axis=0)
    place = axis_of(axis, arr.ndim)
    # Other axes broadcast in chainerx.
    x, i = arr.name, g.to(indices, np.int64)
    for k in range(arr.ndim):
        n, m = arr.shape[k], indices.shape[k]
        if k == place or n == m:
            continue
        if type(n) is int and n == 1:
            x = g.expand(x, [m if j == k else 1 for j in range(arr.ndim)])
        else:
            i = Typed(g.expand(i, [n if j == k else 1 for j in range(arr.ndim)]), np.int64)
    return g.op('GatherElements', [x, i], axis=place)


@composed('choose')
def _(a: tp.Any, choices: tp.Any, mode: str = 'raise') -> tp.Any:
    if isinstance(choices, chx.ndarray):
        choices = [choices[i] for i in range(len(choices))]
    n = len(choices)
    a = (a if isinstance(a, chx.ndarray) else chx.asarray(a)).astype('int64')
    if mode == 'clip':
        a = chx.clip(a, 0, n - 1)
    elif mode == 'wrap':
        a = chx.remainder(a, n)
    y = choices[0] if isinstance(choices[0], chx.ndarray) else chx.asarray(choices[0])
    for i, choice in enumerate(choices):
        y = chx.where(a == i, choice, y)
    return y


@composed('select')
def _(condlist: tp.Any, choicelist: tp.Any, default: tp.Any = 0) -> tp.Any:
    y = default if isinstance(default, chx.ndarray) else chx.asarray(default)
    pairs = list(zip(condlist, choicelist, strict=True))
    if not isinstance(default, chx.ndarray):
        y = chx.asarray(default, dtype=_dtype_of(choicelist, default))
    for condition, choice in reversed(pairs):
        y = chx.where(condition, choice, y)
    return y


def _dtype_of(xs: tp.Any, default: tp.Any) -> tp.Any:
    kinds = [x.dtype if isinstance(x, chx.ndarray) else x for x in (*xs, default)]
    return chx.result_type(*kinds)


@row('compress')
def _(g: RoutineWriter, condition: tp.Any, a: Operand, axis: int | None = None) -> str:
    g.need(9, 'Compress')
    mask = g.to(condition, bool)
    work = g.work_dtype('Compress', a.dtype)
    place = None if axis is None else axis_of(axis, a.ndim)
    return Typed(g.op('Compress', [g.to(a, work), mask], axis=place), work)


@row('extract')
def _(g: RoutineWriter, condition: tp.Any, arr: Operand) -> str:
    g.need(9, 'Compress')
    mask, work = g.to(condition, bool), g.work_dtype('Compress', arr.dtype)
    x: str = g.to(arr, work)
    x = x if arr.ndim else g.unsqueeze(x, [0])
    return Typed(g.op('Compress', [x, g.reshape(mask, [-1])]), work)


# Diagonals and triangles


@composed('diagonal')
def _diagonal(a: tp.Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> tp.Any:
    first, second = axis_of(axis1, a.ndim), axis_of(axis2, a.ndim)
    a = chx.moveaxis(a, (first, second), (-2, -1))
    rows, columns = a.shape[-2:]
    n = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    i = np.arange(int(n)) + max(-offset, 0)
    return a[..., i, i + offset]


@composed('linalg.diagonal')
def _(x: tp.Any, *, offset: int = 0) -> tp.Any:
    return _diagonal(x, offset, -2, -1)


@composed('trace')
def _trace(
    a: tp.Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: tp.Any = None
) -> tp.Any:
    return chx.sum(_diagonal(a, offset, axis1, axis2), -1, dtype=dtype)


@composed('linalg.trace')
def _(x: tp.Any, *, offset: int = 0, dtype: tp.Any = None) -> tp.Any:
    return _trace(x, offset, -2, -1, dtype)


@composed('diag')
def _(v: tp.Any, k: int = 0) -> tp.Any:
    return _diagonal(v, k) if v.ndim == 2 else _matrix(v, k)


@composed('diagflat')
def _(v: tp.Any, k: int = 0) -> tp.Any:
    return _matrix(chx.ravel(v), k)


def _matrix(v: tp.Any, k: int) -> tp.Any:
    n = int(v.shape[0])
    size = n + abs(k)
    places = np.full((size, size), n)
    i = np.arange(n)
    places[i + max(-k, 0), i + max(k, 0)] = i
    zero = np.zeros(1, np.int64)
    padded = chx.concatenate([v, chx.zeros((1,), v.dtype, device=v.device)])
    return chx.take(padded, chx.array(places + zero), 0)


def _triangle(g: RoutineWriter, m: Operand, k: int, upper: bool) -> Typed:
    g.need(14, 'Trilu')
    name = m.name
    if m.ndim == 1:
        n = m.shape[0]
        name = g.expand(g.unsqueeze(name, [0]), [n, 1])
    # Runtimes have few types of it.
    work = m.dtype if m.dtype.name in ('bool', 'float32', 'float64', 'int64') else None
    if work is None:
        wide = {'float16': 'float32', 'bfloat16': 'float32'}.get(m.dtype.name, 'int64')
        work = np.dtype(wide)
    x = g.to(Typed(name, m.dtype), work)
    return Typed(g.op('Trilu', [x, g.const(k, 'k', np.int64)], upper=int(upper)), work)


@row('tril')
def _(g: RoutineWriter, m: Operand, k: int = 0) -> Typed:
    return _triangle(g, m, k, False)


@row('triu')
def _(g: RoutineWriter, m: Operand, k: int = 0) -> Typed:
    return _triangle(g, m, k, True)


# Writing


def _positions(g: RoutineWriter, shape: tuple[tp.Any, ...]) -> str:
    """Of each element its place in C order, in the shape."""
    if all(type(n) is int for n in shape):
        n = int(np.prod(shape))
        return g.const(np.arange(n, dtype=np.int64).reshape(shape), 'places')
    g.need(11, 'Range')
    total = g.op('ReduceProd', [g.vector(shape)], keepdims=0)
    places = g.op('Range', [g.const(0, 'value', np.int64), total, g.const(1, 'value', np.int64)])
    return g.shaped(places, shape)


def _scattered(
    g: RoutineWriter, x: Operand, index: tp.Any, values: tp.Any, reduction: str | None = None
) -> Typed:
    """The array with values at an index, as `x.at[index].set(values)`."""
    dtype = g.dtype
    entries = _entries(g, index)
    if len(entries) == 1 and isinstance(entries[0], _index.ARRAYS) and reduction is None:
        found = _masked(g, x, entries[0], values)
        if found is not None:
            return found
    is_empty = any(isinstance(e, np.ndarray) and e.size == 0 for e in entries)
    if is_empty or any(type(n) is int and n == 0 for n in x.shape):
        return g.to(x, dtype)
    places = _index.get_item(g, _positions(g, x.shape), x.shape, entries)
    flat = g.reshape(g.to(x, dtype), [-1])
    spread = g.op('Expand', [g.to(values, dtype), g.op('Shape', [places])])
    g.need(11, 'ScatterElements')
    rows = [g.reshape(places, [-1]), g.reshape(spread, [-1])]
    work = dtype
    if reduction is not None:
        g.need(16 if reduction in ('add', 'mul') else 18, f'ScatterElements with {reduction}')
        work = g.work_dtype('Add', dtype)
        if dtype.name in ('float16', 'bfloat16'):  # of which runtimes add no elements
            work = np.dtype(np.float32)
        flat, rows[1] = (g.to(Typed(v, dtype), work) for v in (flat, rows[1]))
    y = g.op('ScatterElements', [flat, *rows], axis=0, reduction=reduction)
    return Typed(g.shaped(y, x.shape) if x.ndim != 1 else y, work)


def _masked(g: RoutineWriter, x: Operand, mask: tp.Any, values: tp.Any) -> Typed | None:
    """A mask with one value for all is no scattering."""
    if mask.dtype != bool or mask.ndim > x.ndim:
        return None
    is_number = not isinstance(values, Operand) or values.ndim == 0
    if not is_number:
        return None
    name = mask.name if isinstance(mask, _index.Value) else g.const(mask, 'mask')
    name = g.unsqueeze(name, range(mask.ndim, x.ndim))
    return g.choose(Typed(name, bool), values, g.to(x, g.dtype))


@row('ndarray.__setitem__', 'ndarray.at.set')
def _(g: RoutineWriter, x: Operand, index: tp.Any, values: tp.Any) -> Typed:
    return _scattered(g, x, index, values)


for _name, _reduction in (
    ('add', 'add'),
    ('multiply', 'mul'),
    ('mul', 'mul'),
    ('max', 'max'),
    ('min', 'min'),
):

    def _write(
        g: RoutineWriter,
        x: Operand,
        index: tp.Any,
        values: tp.Any,
        reduction: str = _reduction,
    ) -> Typed:
        return _scattered(g, x, index, values, reduction)

    row(f'ndarray.at.{_name}')(_write)


@row('add_at')
def _(g: RoutineWriter, a: Operand, indices: tp.Any, b: tp.Any) -> Typed:
    return _scattered(g, a, indices, b, 'add')


@row('ndarray.at.subtract')
def _(g: RoutineWriter, x: Operand, index: tp.Any, values: tp.Any) -> Typed:
    return _scattered(g, x, index, g.run('Sub', 0, values), 'add')


@row('ndarray.at.divide')
def _(g: RoutineWriter, x: Operand, index: tp.Any, values: tp.Any) -> Typed:
    return _scattered(g, x, index, g.run('Div', 1, values), 'mul')


@row('ndarray.fill')
def _(g: RoutineWriter, x: Operand, value: tp.Any) -> str:
    one = g.to(value, g.dtype)
    return g.expand(one, x.shape) if x.ndim else one


@row('copyto')
def _(
    g: RoutineWriter, dst: Operand, src: tp.Any, casting: str = '', where: tp.Any = True
) -> tp.Any:
    if where is True:
        value = g.to(src, g.dtype)
        is_same = isinstance(src, Operand) and src.shape == dst.shape
        return value if is_same or not dst.ndim else g.expand(value, dst.shape)
    return g.choose(where, src, dst)


@row('putmask')
def _(g: RoutineWriter, a: Operand, mask: tp.Any, values: tp.Any) -> Typed:
    if isinstance(values, Operand) and values.shape != a.shape and values.ndim:
        g.lacks('putmask with values of another shape', 'use chainerx.where')
    return g.choose(mask, values, a)


@row('put_along_axis')
def _(
    g: RoutineWriter, arr: Operand, indices: Operand, values: tp.Any, axis: int | None = -1
) -> str:
    g.need(11, 'ScatterElements')
    if axis is None:
        g.lacks('put_along_axis without an axis')
    i = g.to(indices, np.int64)
    spread = g.op('Expand', [g.to(values, g.dtype), g.op('Shape', [i])])
    place = axis_of(axis, arr.ndim)
    return g.op('ScatterElements', [arr.name, i, spread], axis=place)


@row('fill_diagonal')
def _(g: RoutineWriter, a: Operand, val: tp.Any, wrap: bool = False) -> Typed:
    if wrap or any(type(n) is not int for n in a.shape):
        g.lacks('fill_diagonal with wrap, or of open axes')
    if isinstance(val, Operand) and val.ndim:
        g.lacks('fill_diagonal with several values')
    mask = np.zeros(a.shape, bool)
    np.fill_diagonal(mask, True)
    return g.choose(Typed(g.const(mask, 'mask'), bool), val, a)


# Positions


@row('unravel_index')
def _(g: RoutineWriter, indices: tp.Any, shape: tp.Any, order: str = 'C') -> tuple[str, ...]:
    g.need(10, 'Mod')
    dims = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    rest = g.to(indices, np.int64)
    found = []
    for n in dims[::-1] if order == 'C' else dims:
        found.append(g.run('Mod', rest, n, dtype=np.int64))
        rest = g.run('Div', rest, n, dtype=np.int64)
    return tuple(found[::-1] if order == 'C' else found)


@composed('ravel_multi_index')
def _(multi_index: tp.Any, dims: tp.Any, mode: tp.Any = 'raise', order: str = 'C') -> tp.Any:
    rows = (
        [multi_index[i] for i in range(len(multi_index))]
        if isinstance(multi_index, chx.ndarray)
        else list(multi_index)
    )
    lengths = list(dims) if isinstance(dims, (tuple, list)) else [dims]
    modes = mode if isinstance(mode, tuple) else (mode,) * len(lengths)
    y: tp.Any = None
    triples = list(zip(rows, lengths, modes, strict=True))
    for i, n, how in triples if order == 'C' else triples[::-1]:
        i = i.astype('int64') if isinstance(i, chx.ndarray) else i
        if how == 'clip':
            i = chx.clip(i, 0, n - 1)
        elif how == 'wrap':
            i = chx.remainder(i, n)
        y = i if y is None else y * n + i
    return y
