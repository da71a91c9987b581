"""Batching rules of elementwise routines, of routines along axes, and of those that move axes.

A rule gets the level, the routine and its arguments (`_batch.rule`). Axes that count from the end
of an example are the same in the batch, so the rules make all axes negative.
"""

from __future__ import annotations

import collections.abc as c
import operator
import typing as tp

import chainerx
from chainerx import _core
from chainerx.func import _batch
from chainerx.func._batch import (
    Batched,
    Level,
    conditions,
    full,
    full_name,
    is_array,
    is_batch,
    lift,
    need_batch,
    rule,
)

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Axis, DeviceLike, Operand, Routine, ShapeLike, Tree

# Routines that copy arrays, or reinterpret their bytes; the binding tells whether any other routine
# is elementwise.
COPIES = """
    copy ascontiguousarray asfortranarray
    ndarray.as_grad_stopped ndarray.astype ndarray.to_device ndarray.view
"""


def elementwise(level: Level, function: Routine, *args: Argument, **kwargs: Argument) -> Operand:
    """Broadcasting pairs axes from the end, so examples must have as many as the largest."""
    if not kwargs:
        ndim = max([x.ndim for x in args if is_array(x)])
        return function(*[lift(x, level, ndim) for x in args])
    if 'where' in kwargs:
        kwargs['where'] = conditions(kwargs['where'], (*args, *kwargs.values()))
    out = kwargs.get('out')
    targets = [x for x in (out if type(out) is tuple else (out,)) if is_array(x)]
    for x in targets:
        need_batch(_name(function), x, level)
    if type(out) is tuple:  # unwritten elements exist for all examples, too
        args = tuple([Batched(full(x, level), level) if is_array(x) else x for x in args])
    ndim = max([x.ndim for x in (*args, *kwargs.values(), *targets) if is_array(x)])
    named = {
        k: tuple([lift(y, level, ndim) for y in x]) if type(x) is tuple else lift(x, level, ndim)
        for k, x in kwargs.items()
    }
    return function(*[lift(x, level, ndim) for x in args], **named)


_batch.WRITING.add(elementwise)


rule(*COPIES.split())(elementwise)
rule(*[full_name(kind, name) for kind, name in _core._elementwise_bindings()])(elementwise)


@rule('where')
def _where(
    level: Level, function: Routine, condition: Operand, *args: Argument, **kw: Argument
) -> Operand:
    condition = conditions(condition, (*args, *kw.values()))
    return elementwise(level, function, condition, *args, **kw)


def _stacked(nested: Tree, device: DeviceLike | None) -> Operand:
    if isinstance(nested, (list, tuple)) and nested:
        return chainerx.stack([_stacked(x, device) for x in nested])
    return nested if is_array(nested) else chainerx.asarray(nested, device=device)


@rule('array', 'asarray', 'asanyarray')
def _array(level: Level, function: Routine, *args: Argument, **kwargs: Argument) -> Operand:
    if 'object' in kwargs:
        args = (kwargs.pop('object'), *args)
    if args and not is_array(args[0]):  # lists of batches
        args = (_stacked(args[0], kwargs.get('device')), *args[1:])
    return elementwise(level, function, *args, **kwargs)


@rule('full_like')
def _full_like(
    level: Level,
    function: Routine,
    a: Operand,
    fill_value: Operand,
    *args: Argument,
    **kw: Argument,
) -> Operand:
    if not is_batch(fill_value, level):
        return _like(level, function, a, fill_value, *args, **kw)
    shape = kw.get('shape')
    ndim = a.ndim if shape is None else len(shape) if isinstance(shape, (tuple, list)) else 1
    a = Batched(full(a, level), level)
    return _like(level, function, a, lift(fill_value, level, ndim), *args, **kw)


@rule('zeros_like', 'ones_like', 'empty_like')
def _like(level: Level, function: Routine, a: Operand, *args: Argument, **kw: Argument) -> Operand:
    shape = kw.pop('shape', None)
    if shape is None:
        return function(a.array, *args, **kw)
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return function(a.array, *args, shape=(level.size, *shape), **kw)


@rule('sigmoid_cross_entropy')
def _same_shapes(level: Level, function: Routine, x1: Operand, x2: Operand) -> Operand:
    if x1.shape != x2.shape:
        raise chainerx.DimensionError(
            f'{_name(function)}: x1.shape is {x1.shape}, but x2.shape is {x2.shape}'
        )
    return function(full(x1, level), full(x2, level))


# ---- axes ---------------------------------------------------------------------------------------


def axis_of(op: str, axis: tp.SupportsIndex, ndim: int, name: str = 'axis') -> int:
    """An axis of an example as a negative index, which is the same in the batch."""
    i = operator.index(axis)
    if not -ndim <= i < ndim:
        raise chainerx.DimensionError(
            f'{op}: {name} {i} is out of range for an array of {ndim} axes'
        )
    return i - ndim if i >= 0 else i


def axes_of(op: str, axes: Axis | None, ndim: int, name: str = 'axis') -> tuple[int, ...]:
    """The axes of an example; None means all of them."""
    if axes is None:
        return tuple(range(-ndim, 0))
    if isinstance(axes, (tuple, list)):
        return tuple([axis_of(op, axis, ndim, name) for axis in axes])
    return (axis_of(op, tp.cast(int, axes), ndim, name),)


def _name(function: Routine) -> str:
    return str(function.__name__).lstrip('_')


def _inner(batch: Operand) -> Operand:
    """The array of a result that is already a batch."""
    return batch.array


def _flat(x: Operand) -> Operand:
    """Flattens each example to one axis."""
    return chainerx.reshape(x, (x.shape[0], _size(x.shape[1:])))


def _reversed(x: Operand) -> Operand:
    """Reverses the axes of each example."""
    return chainerx.transpose(x, (0, *range(x.ndim - 1, 0, -1)))


def _size(shape: c.Iterable[int]) -> int:
    n = 1
    for length in shape:
        n *= length
    return n


@rule('sum', 'nansum', 'prod', 'nanprod', 'mean', 'nanmean', 'var', 'nanvar', 'std', 'nanstd')
@rule('max', 'min', '_max', '_min', 'amax', 'amin', 'nanmax', 'nanmin', 'ptp')
@rule('all', 'any', 'logsumexp', 'count_nonzero')
def _reduce(
    level: Level,
    function: Routine,
    a: Operand = None,
    axis: Axis | None = None,
    keepdims: bool = False,
    **kw: Argument,
) -> Operand:
    op = _name(function)
    a = kw.pop('x', a)
    if 'where' in kw:
        kw['where'] = conditions(kw['where'], (a,))
    for name in ('where', 'mean'):
        if is_array(kw.get(name)):
            if kw[name].ndim > a.ndim:
                raise chainerx.DimensionError(
                    f'{op}: {name}.shape is {kw[name].shape}, but a.shape is {a.shape}'
                )
            kw[name] = lift(kw[name], level, a.ndim)
    return function(full(a, level), axes_of(op, axis, a.ndim), keepdims=keepdims, **kw)


@rule('softmax', 'log_softmax')
def _softmax(level: Level, function: Routine, x: Operand, axis: Axis | None = None) -> Operand:
    if axis is None:
        axis = 1  # the default
    return function(x.array, axes_of(_name(function), axis, x.ndim))


@rule('flip')
def _flip(
    level: Level,
    function: Routine,
    m: Operand,
    axes: Axis | None = None,
    *,
    axis: Axis | None = None,
) -> Operand:
    axes = axis if axes is None else axes
    return function(m.array, axes_of('flip', axes, m.ndim))


@rule('crelu')
def _crelu(level: Level, function: Routine, x: Operand, axis: int = 1) -> Operand:
    return function(x.array, axis_of('crelu', axis, x.ndim))


@rule('tril', 'triu')
def _triangle(level: Level, function: Routine, m: Operand, k: int = 0) -> Operand:
    if m.ndim == 0:
        raise chainerx.DimensionError(f'{_name(function)}: m has no axes, expected 1 or more')
    x = m.array
    return function(_batch.spread(x, x.shape[1], 1) if m.ndim == 1 else x, k)


@rule('roll')
def _roll(
    level: Level, function: Routine, a: Operand, shift: Operand, axis: Axis | None = None
) -> Operand:
    if _has_batch(shift, level):
        return _batch.unwrap(_roll_by_batches(a, shift, axis), level)
    a = Batched(
        full(a, level), level
    )  # the same for all examples, if the shifts belong to another vmap
    if axis is None:
        if is_array(shift):
            shift = chainerx.sum(shift)
        shift = sum(shift) if isinstance(shift, (tuple, list)) else shift
        return chainerx.reshape(function(_flat(a.array), shift, 1), a.array.shape)
    return function(a.array, shift, axes_of('roll', axis, a.ndim))


def _has_batch(x: Operand, level: Level) -> bool:
    if isinstance(x, (tuple, list)):
        return any(_has_batch(y, level) for y in x)
    return is_batch(x, level)


def _roll_by_batches(a: Operand, shift: Operand, axis: Axis | None) -> Operand:
    """Rolls by one shift for each axis; a single array has the shifts of all axes."""
    if is_array(shift):
        if shift.ndim > 1 or shift.dtype.kind not in 'iu':
            raise TypeError(
                f'roll: shift is an array of shape {shift.shape} and {shift.dtype}, expected '
                'integers in at most one dimension'
            )
        shift = [shift] if shift.ndim == 0 else list(shift)
    if axis is None:
        return chainerx.reshape(_roll_by_batches(chainerx.ravel(a), sum(shift), 0), a.shape)
    axes = axes_of('roll', axis, a.ndim)
    n = max(len(axes), len(shift))
    if not {len(axes), len(shift)} <= {1, n}:
        raise ValueError(f'roll: {len(shift)} shifts for {len(axes)} axes')
    for by, along in zip(list(shift) * (n // len(shift)), axes * (n // len(axes)), strict=True):
        length = a.shape[along]
        if length > 0:
            places = chainerx.arange(length, dtype='int64', device=a.device)
            a = chainerx.take(a, (places - by) % length, along)
    return a


@rule('repeat')
def _repeat(
    level: Level, function: Routine, a: Operand, repeats: Operand, axis: int | None = None
) -> Operand:
    if is_batch(repeats, level):
        raise TypeError(
            'vmap: repeat: numbers that are other ones for each example give results of other '
            'shapes, so repeats must be the same for all'
        )
    if axis is None:
        return function(_flat(a.array), repeats, 1)
    return function(a.array, repeats, axis_of('repeat', axis, a.ndim))


# ---- moving axes --------------------------------------------------------------------------------


@rule('transpose', 'ndarray.transpose')
def _transpose(
    level: Level, function: Routine, a: Operand, *axes: Argument, **kw: Argument
) -> Operand:
    order: Argument = kw.get('axes', axes)
    if len(order) == 1 and (order[0] is None or isinstance(order[0], (tuple, list))):
        order = order[0]
    if order is None or len(order) == 0:
        order = range(a.ndim - 1, -1, -1)
    if len(order) != a.ndim:
        raise chainerx.DimensionError(f'transpose: {len(order)} axes, expected {a.ndim}')
    ndim = a.ndim
    return chainerx.transpose(
        a.array, (0, *[axis_of('transpose', i, ndim) + ndim + 1 for i in order])
    )


@rule('swapaxes')
def _swapaxes(level: Level, function: Routine, a: Operand, axis1: int, axis2: int) -> Operand:
    return function(
        a.array,
        axis_of('swapaxes', axis1, a.ndim, 'axis1'),
        axis_of('swapaxes', axis2, a.ndim, 'axis2'),
    )


@rule('moveaxis')
def _moveaxis(
    level: Level, function: Routine, a: Operand, source: Axis, destination: Axis
) -> Operand:
    return function(
        a.array,
        axes_of('moveaxis', source, a.ndim, 'source'),
        axes_of('moveaxis', destination, a.ndim, 'destination'),
    )


@rule('rollaxis')
def _rollaxis(level: Level, function: Routine, a: Operand, axis: int, start: int = 0) -> Operand:
    n = a.ndim
    if not -n <= start <= n:
        raise chainerx.AxisError(f'rollaxis: start {start} is out of range for {n} axes')
    start = start + n if start < 0 else start
    return function(a.array, axis_of('rollaxis', axis, n) + n + 1, start + 1)


@rule('expand_dims')
def _expand_dims(level: Level, function: Routine, a: Operand, axis: Axis) -> Operand:
    many = axis if isinstance(axis, (tuple, list)) else (axis,)
    return function(a.array, axes_of('expand_dims', many, a.ndim + len(many)))


@rule('squeeze')
def _squeeze(level: Level, function: Routine, a: Operand, axis: Axis | None = None) -> Operand:
    if axis is None:
        axis = tuple([i for i, n in enumerate(a.shape) if n == 1])
    return function(a.array, axes_of('squeeze', axis, a.ndim))


@rule('atleast_1d', 'atleast_2d', 'atleast_3d')
def _at_least(level: Level, function: Routine, *arys: Operand) -> Operand:
    results = [
        _at_least_of(level, function, x) if is_batch(x, level) else full(function(x), level)
        for x in arys
    ]
    return results[0] if len(results) == 1 else tuple(results)


def _at_least_of(level: Level, function: Routine, x: Operand) -> Operand:
    shape = x.shape
    one = chainerx.empty(shape, x.dtype, device=x.device) if _size(shape) == 0 else None
    # The routine itself computes where the new axes go, for an array without memory.
    like = (
        one
        if one is not None
        else chainerx.broadcast_to(
            chainerx.zeros((1,) * len(shape), x.dtype, device=x.device), shape
        )
    )
    return chainerx.reshape(x.array, (level.size, *function(like).shape))


# ---- shapes -------------------------------------------------------------------------------------


@rule('reshape')
def _reshape(level: Level, function: Routine, a: Operand, *lengths: int, **kw: Argument) -> Operand:
    options = {key: kw.pop(key) for key in ('copy', 'order') if key in kw}
    lengths = (*lengths, *kw.values())
    shape = lengths[0] if len(lengths) == 1 and isinstance(lengths[0], (tuple, list)) else lengths
    shape = tuple([operator.index(n) for n in shape])
    if shape.count(-1) == 1:
        rest = _size(n for n in shape if n != -1)
        if rest > 0 and a.size % rest == 0:
            shape = tuple([a.size // rest if n == -1 else n for n in shape])
    if -1 in shape or _size(shape) != a.size:
        raise chainerx.DimensionError(f'reshape: shape {a.shape} to {shape}')
    order = options.pop('order', 'C')
    if order not in ('C', 'F'):
        return _batch.by_examples(
            'reshape', level, function, (a, shape), {**options, 'order': order}
        )
    if order == 'F':
        y = function(_reversed(a.array), (level.size, *shape[::-1]), **options)
        return _reversed(y)
    return function(a.array, (level.size, *shape), **options)


@rule('packbits', 'unpackbits')
def _bits(
    level: Level,
    function: Routine,
    a: Operand,
    axis: Axis | None = None,
    *args: Argument,
    **kw: Argument,
) -> Operand:
    if axis is None:
        return function(_flat(a.array), 1, *args, **kw)
    if not -a.ndim <= axis < a.ndim:
        raise chainerx.DimensionError(f'{_name(function)}: axis {axis} of shape {a.shape}')
    return function(a.array, axis % a.ndim + 1, *args, **kw)


@rule('ravel', 'ndarray.flatten')
def _ravel(level: Level, function: Routine, a: Operand, order: str = 'C') -> Operand:
    if order not in ('C', 'F'):  # in the memory order of one example
        return _batch.by_examples(_name(function), level, function, (a, order), {})
    flat = _flat(a.array if order == 'C' else _reversed(a.array))
    return chainerx.copy(flat) if _name(function) == 'flatten' else flat


@rule('broadcast_to')
def _broadcast_to(level: Level, function: Routine, array: Operand, shape: ShapeLike) -> Operand:
    lengths = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if len(lengths) < array.ndim:
        raise chainerx.DimensionError(f'broadcast_to: shape {array.shape} to {lengths}')
    return function(lift(array, level, len(lengths)), (level.size, *lengths))


@rule('broadcast_arrays')
def _broadcast_arrays(level: Level, function: Routine, *args: Argument) -> Operand:
    ndim = max(x.ndim for x in args)
    full_size = [lift(x, level, ndim) for x in args if is_batch(x, level)]
    results = iter(function(*full_size, *[x for x in args if not is_batch(x, level)]))
    batches = [next(results) for _ in full_size]
    rest = list(results)
    return tuple([batches.pop(0) if is_batch(x, level) else rest.pop(0) for x in args])


@rule('tile')
def _tile(level: Level, function: Routine, A: Operand, reps: ShapeLike) -> Operand:
    counts = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    ndim = max(A.ndim, len(counts))
    ones = (1,) * (ndim - len(counts))
    return function(lift(A, level, ndim), (1, *ones, *counts))


@rule('pad')
def _pad(
    level: Level,
    function: Routine,
    array: Operand,
    pad_width: Operand,
    mode: str = 'constant',
    *args: Argument,
    **kw: Argument,
) -> Operand:
    n = array.ndim
    if not isinstance(mode, str):  # a user-defined mode, which may depend on values
        return _inner(
            _batch.WITHOUT_RULE[0]('pad', level, function, (array, pad_width, mode, *args), kw)
        )
    widths = _for_all_axes(pad_width, n, (0, 0))
    if isinstance(widths, int):
        widths = [(0, 0), *[(widths, widths)] * n]
    elif len(widths) <= 2 and all(isinstance(w, int) for w in widths):
        pair = tuple(widths) * (3 - len(widths))
        widths = [(0, 0), *[pair] * n]
    elif len(widths) == 1:
        widths = [(0, 0), *[tuple(widths[0])] * n]
    options = dict(zip(_PAD_OPTIONS, args, strict=False)) | kw
    for name, none in _PAD_OPTIONS.items():
        if name in options:
            if _has_batch(options[name], level):
                raise TypeError(f'pad: {name} must be a number, got a batch of chainerx.ndarray')
            options[name] = _for_all_axes(options[name], n, none)
    return function(array.array, widths, mode, **options)


# The values of options for the batch axis, if they are given for each axis.
_PAD_OPTIONS = {
    'constant_values': (0, 0),
    'stat_length': (1, 1),
    'end_values': (0, 0),
    'reflect_type': None,
}


def _for_all_axes(value: Operand, n: int, none: object) -> Operand:
    """Values for each of `n` axes, preceded by those for the batch axis; other values unchanged."""
    if not isinstance(value, (tuple, list)) or len(value) != n or n == 1:
        return value
    if not all(isinstance(v, (tuple, list)) for v in value):
        return value
    return [none, *value]


# ---- several arrays -----------------------------------------------------------------------------


@rule('concatenate')
def _concatenate(
    level: Level, function: Routine, arrays: Operand, axis: int = 0, **kw: Argument
) -> Operand:
    if axis is None:
        return function([_flat(full(x, level)) for x in arrays], 1, **kw)
    batches = [full(x, level) for x in arrays]
    return function(batches, axis_of('concatenate', axis, arrays[0].ndim), **kw)


@rule('stack')
def _stack(
    level: Level, function: Routine, arrays: Operand, axis: int = 0, **kw: Argument
) -> Operand:
    batches = [full(x, level) for x in arrays]
    return function(batches, axis_of('stack', axis, arrays[0].ndim + 1), **kw)


@rule('vstack', 'hstack', 'dstack')
def _stack_by_name(level: Level, function: Routine, arrays: Operand, **kw: Argument) -> Operand:
    name = _name(function)
    least = {'vstack': 2, 'hstack': 1, 'dstack': 3}[name]
    raised = []
    for x in arrays:
        if x.ndim < least:
            x = getattr(chainerx, f'atleast_{least}d')(x)
        raised.append(full(x, level))
    axis = {'vstack': 1, 'hstack': 1 if raised[0].ndim == 2 else 2, 'dstack': 3}[name]
    return chainerx.concatenate(raised, axis, **kw)


@rule('split', 'array_split')
def _split(
    level: Level,
    function: Routine,
    ary: Operand,
    indices_or_sections: int | c.Sequence[int],
    axis: int = 0,
) -> Operand:
    return function(ary.array, indices_or_sections, axis_of(_name(function), axis, ary.ndim))


@rule('hsplit', 'vsplit', 'dsplit')
def _split_by_name(
    level: Level, function: Routine, ary: Operand, indices_or_sections: int | c.Sequence[int]
) -> Operand:
    name = _name(function)
    axis = {'vsplit': 0, 'hsplit': 0 if ary.ndim == 1 else 1, 'dsplit': 2}[name]
    least = {'vsplit': 2, 'hsplit': 1, 'dsplit': 3}[name]
    if ary.ndim < least:
        raise chainerx.DimensionError(f'{name}: ary has {ary.ndim} axes, expected {least} or more')
    return chainerx.split(ary.array, indices_or_sections, axis + 1)


@rule('ndarray.fill')
def _fill(level: Level, function: Routine, a: Operand, value: Operand) -> None:
    need_batch('fill', a, level)
    if not is_array(value):
        a.array.fill(value)
        return
    if value.ndim != 0:
        raise TypeError(f'fill: value has shape {value.shape}, expected a number')
    a.array[...] = lift(value, level, a.ndim)


@rule('ndarray.real', 'ndarray.imag')
def _set_part(level: Level, function: Routine, a: Operand, value: Operand) -> None:
    need_batch(_name(function), a, level)
    if is_array(value) and value.ndim > a.ndim:
        raise chainerx.DimensionError(
            f'{_name(function)}: an array of shape {value.shape} into one of shape {a.shape}'
        )
    function(a.array, lift(value, level, a.ndim))
