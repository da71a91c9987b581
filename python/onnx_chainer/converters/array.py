"""Functions that move elements."""

from __future__ import annotations

import typing as tp

import numpy as np
from chainer.functions.array.resize_images import resize_images
from chainerx.onnx import _index
from chainerx.onnx._lengths import Length, reshaped

from onnx_chainer import onnx_helper
from onnx_chainer.converters._registry import Conversion, converts, memory_key, same

same(dict.fromkeys(('Copy', '_CopyToKind', 'Identity'), 'Identity'))


@converts('Cast')
def cast(g: Conversion) -> str:
    return g.cast(g.x[0], g.func.type)


@converts('Concat')
def concat(g: Conversion) -> str:
    return g.op('Concat', g.x, axis=_axis(g.func.axis, len(g.shape(0))))


@converts('Depth2Space')
def depth2space(g: Conversion) -> str:
    return g.op('DepthToSpace', g.x, blocksize=int(g.func.r))


@converts('Space2Depth')
def space2depth(g: Conversion) -> str:
    return g.op('SpaceToDepth', g.x, blocksize=int(g.func.r))


@converts('Reshape')
def reshape(g: Conversion) -> str:
    old, new = g.shape(0), g.out_shape()
    if (lengths := g.context.lengths) is not None and 0 not in old:
        given = g.func.shape
        rest = given.index(-1) if -1 in given else None
        found = reshaped(lengths, g.lengths(0), old, new, rest)
        g.hint(found)
        old_lengths = g.lengths(0)
        if sum(not isinstance(n, int) for n in found) > 1:
            # In a shape, 0 is the length that the axis has.
            found = [
                0 if isinstance(n, str) and old_lengths[i : i + 1] == (n,) else n
                for i, n in enumerate(found)
            ]
        return g.reshape_to(g.x[0], found)
    # The first axis is that of examples, whose number may be another in the next run.
    if new and old and new[0] == old[0] and 0 not in new:
        return g.reshape(g.x[0], (0, *new[1:]))
    is_same = [n == m for n, m in zip(new, old, strict=False)]
    if any(n == 0 and not (i < len(old) and is_same[i]) for i, n in enumerate(new)):
        return g.reshape_empty(g.x[0], new)
    return g.reshape(g.x[0], new)


@converts('Squeeze')
def squeeze(g: Conversion) -> str:
    shape, axis = g.shape(0), g.func.axis
    axes = [i for i, n in enumerate(shape) if n == 1] if axis is None else _axes(axis, len(shape))
    return g.squeeze(g.x[0], axes)


@converts('ExpandDims')
def expand_dims(g: Conversion) -> str:
    return g.unsqueeze(g.x[0], [_axis(g.func.axis, len(g.shape(0)) + 1)])


@converts('Tile')
def tile(g: Conversion) -> str:
    reps = g.func.reps
    reps = (reps,) if isinstance(reps, int) else tuple(reps)
    ndim = len(g.shape(0))
    x = g.unsqueeze(g.x[0], range(len(reps) - ndim))
    return g.op('Tile', [x, g.ints([1] * (ndim - len(reps)) + list(reps), 'reps')])


@converts('Where')
def where(g: Conversion) -> str:
    return g.where(g.value_of(g.func.condition, 'condition'), *g.x)


@converts('SplitAxis')
def split_axis(g: Conversion) -> tuple[str, ...]:
    axis = _axis(g.func.axis, len(g.shape(0)))
    sizes = [g.out_shape(i)[axis] for i in range(len(g.params.output_names))]
    return g.split(g.x[0], sizes, axis)


@converts('Transpose')
def transpose(g: Conversion) -> str:
    ndim = len(g.shape(0))
    axes = range(ndim)[::-1] if g.func.axes is None else [_axis(i, ndim) for i in g.func.axes]
    return g.transpose(g.x[0], list(axes))


@converts('Swapaxes')
def swapaxes(g: Conversion) -> str:
    perm = np.arange(len(g.shape(0)))
    return g.transpose(g.x[0], _moved(g, np.swapaxes, g.func.axis1, g.func.axis2, perm))


@converts('Moveaxis')
def moveaxis(g: Conversion) -> str:
    perm = np.arange(len(g.shape(0)))
    return g.transpose(g.x[0], _moved(g, np.moveaxis, g.func.source, g.func.destination, perm))


@converts('Rollaxis')
def rollaxis(g: Conversion) -> str:
    perm = np.arange(len(g.shape(0)))
    return g.transpose(g.x[0], _moved(g, np.rollaxis, g.func.axis, g.func.start, perm))


def _moved(
    g: Conversion, move: tp.Any, first: tp.Any, second: tp.Any, perm: np.ndarray
) -> list[int]:
    """Where NumPy's function takes each axis from."""
    ndim = len(perm)
    marked = move(np.empty(range(1, ndim + 1), np.void), first, second)
    return [n - 1 for n in marked.shape]


@converts('Stack')
def stack(g: Conversion) -> str:
    axis = _axis(g.func.axis, len(g.shape(0)) + 1)
    return g.concat([g.unsqueeze(x, [axis]) for x in g.x], axis)


@converts('Hstack')
def hstack(g: Conversion) -> str:
    ndim = len(g.shape(0))
    xs = [g.unsqueeze(x, [0]) for x in g.x] if ndim == 0 else g.x
    return g.concat(xs, 0 if ndim < 2 else 1)


@converts('Vstack')
def vstack(g: Conversion) -> str:
    ndim = len(g.shape(0))
    return g.concat([g.unsqueeze(x, range(2 - ndim)) for x in g.x])


@converts('Dstack')
def dstack(g: Conversion) -> str:
    axes = {0: (0, 1, 2), 1: (0, 2), 2: (2,)}.get(len(g.shape(0)), ())
    return g.concat([g.unsqueeze(x, axes) for x in g.x], 2)


@converts('Separate')
def separate(g: Conversion) -> tuple[str, ...]:
    shape = g.shape(0)
    axis = _axis(g.func.axis, len(shape))
    return tuple(g.squeeze(part, [axis]) for part in g.split(g.x[0], [1] * shape[axis], axis))


@converts('TransposeSequence')
def transpose_sequence(g: Conversion) -> tuple[str, ...]:
    lengths = [g.shape(i)[0] for i in range(len(g.x))]
    if lengths and len(set(lengths)) == 1 and len(lengths) > 1:
        whole = g.concat([g.unsqueeze(x, [1]) for x in g.x], 1)
        return tuple(g.squeeze(y, [0]) for y in g.split(whole, [1] * lengths[0], 0))
    columns = [g.split(x, [1] * n, 0) if n else () for x, n in zip(g.x, lengths, strict=True)]
    return tuple(
        g.concat([column[t] for column in columns if t < len(column)])
        for t in range(max(lengths, default=0))
    )


@converts('GetItem')
def get_item(g: Conversion) -> str:
    index = g.func.slices
    index = index if isinstance(index, tuple) else (index,)
    return _index.get_item(g, g.x[0], g.shape(0), [_entry(g, i) for i in index])


def _entry(g: Conversion, i: tp.Any) -> _index.Entry:
    if i is None or i is Ellipsis or isinstance(i, (slice, bool, np.bool_, int, np.integer)):
        return _index.entry(i)
    if (name := g.context.get_name(memory_key(i, g.context))) is not None:
        return _index.Value(name, len(i.shape), np.dtype(i.dtype))
    array = onnx_helper.to_numpy(np.asarray(i) if isinstance(i, (list, tuple)) else i)
    return _index.entry(array)


@converts('SelectItem')
def select_item(g: Conversion) -> str:
    x, t = g.x
    if g.opset >= 11:
        found = g.op('GatherElements', [x, g.unsqueeze(t, [1])], axis=1)
        return g.squeeze(found, [1])
    chosen = g.cast(g.one_hot(t, g.shape(0)[1], 1, np.float32), bool)
    zeros = g.op('Sub', [x, x])
    return g.reduce('Sum', g.where(chosen, x, zeros), [1])


@converts('Permutate')
def permutate(g: Conversion) -> str:
    indices = np.asarray(onnx_helper.to_numpy(g.func.indices), np.int64)
    if g.func.inv:
        indices = np.argsort(indices)
    return g.op('Gather', [g.x[0], g.ints(indices, 'indices')], axis=g.func.axis)


@converts('Repeat')
def repeat(g: Conversion) -> str:
    shape, axis, x = g.shape(0), g.func.axis, g.x[0]
    if axis is None:
        x, shape, axis = g.reshape(x, [-1]), (int(np.prod(shape)),), 0
    axis = _axis(axis, len(shape))
    repeats = np.asarray(g.func.repeats)
    if repeats.size == 1 and g.is_open and all(isinstance(n, int) for n in shape[axis + 1 :]):
        # Each element beside itself, whatever the number of elements.
        x = g.unsqueeze(x, [axis + 1])
        reps = [1] * len(shape)
        reps.insert(axis + 1, int(repeats.ravel()[0]))
        x = g.op('Tile', [x, g.ints(reps, 'reps')])
        return g.reshape(x, [0] * axis + [-1, *shape[axis + 1 :]])
    places = np.repeat(
        np.arange(shape[axis]), repeats if repeats.size > 1 else int(repeats.ravel()[0])
    )
    return g.op('Gather', [x, g.ints(places, 'indices')], axis=axis)


@converts('BroadcastTo')
def broadcast_to(g: Conversion) -> str:
    shape: list[Length] = []
    for n in g.out_shape():
        name = g.guess(n)
        shape.append(n if name in shape else name)
    return _expand(g, 0, shape)


@converts('Broadcast')
def broadcast(g: Conversion) -> tuple[str, ...]:
    whole: list[Length] = list(g.out_shape())
    for i in range(len(g.x)):
        lead = len(whole) - len(g.shape(i))
        for axis, n in enumerate(g.lengths(i), lead):
            if not isinstance(n, int):
                whole[axis] = n if isinstance(n, str) else g.guess(g.out_shape()[axis])
    return tuple(_expand(g, i, whole, i) for i in range(len(g.x)))


def _expand(g: Conversion, i: int, shape: tp.Sequence[Length], out: int = 0) -> str:
    g.need(8, 'Expand')
    # Axes that the input has already stay as they are for a length of 1.
    own = [1] * (len(shape) - len(g.shape(i))) + list(g.shape(i))
    lengths = [1] * (len(shape) - len(g.shape(i))) + list(g.lengths(i))
    g.hint([n if n != 1 else m for n, m in zip(lengths, shape, strict=True)], out)
    target = [1 if n != 1 and g.is_open else m for n, m in zip(own, shape, strict=True)]
    return g.op('Expand', [g.x[i], g.shape_of(target)])


@converts('Flip')
def flip(g: Conversion) -> str:
    return _flip(g, g.func.axis)


@converts('FlipLR')
def fliplr(g: Conversion) -> str:
    return _flip(g, 1)


@converts('FlipUD')
def flipud(g: Conversion) -> str:
    return _flip(g, 0)


def _flip(g: Conversion, axis: int) -> str:
    axis = _axis(axis, len(g.shape(0)))
    if g.opset >= 10:
        return g.slice(g.x[0], [-1], [-(2**62)], [axis], [-1])
    places = range(g.shape(0)[axis])[::-1]
    return g.op('Gather', [g.x[0], g.ints(places, 'indices')], axis=axis)


@converts('PadSequence')
def pad_sequence(g: Conversion) -> str:
    length = g.out_shape()[1]
    rows = []
    for i, x in enumerate(g.x):
        shape = g.shape(i)
        missing = [length - shape[0]] + [0] * (len(shape) - 1)
        padded = x
        if missing[0]:
            padded = g.pad(x, [0] * len(shape) + missing, g.func.padding, g.dtype(i))
        rows.append(g.unsqueeze(padded, [0]))
    return g.concat(rows)


@converts('ResizeImages')
def _resize_images(g: Conversion) -> str:
    height, width = g.shape(0)[2:]
    f = g.func
    if g.opset >= 11:
        nearest = f.mode == 'nearest'
        way = 'asymmetric' if nearest else 'align_corners' if f.align_corners else 'half_pixel'
        sizes = g.ints([*g.shape(0)[:2], f.out_H, f.out_W], 'sizes')
        if g.is_open:
            images = ((2, f.out_H), (3, f.out_W))
            g.hint([*g.lengths(0)[:2], *(_resized(g, axis, n) for axis, n in images)])
            ends = [_size(g, axis, n) for axis, n in images]
            sizes = g.concat([g.lengths_of(g.x[0], 0, 2), *ends])
        return g.op(
            'Resize',
            [g.x[0], '', '', sizes]
            if g.opset >= 13
            else [g.x[0], _no_floats(g), _no_floats(g), sizes],
            mode='nearest' if nearest else 'linear',
            coordinate_transformation_mode=way,
            nearest_mode='floor' if nearest else None,
        )
    is_whole = f.out_H % height == 0 and f.out_W % width == 0
    if (f.mode != 'nearest' or not is_whole) and (f.out_H, f.out_W) != (height, width):
        return _resize_by_products(g)
    return upsample(g, g.x[0], (1.0, 1.0, f.out_H / height, f.out_W / width))


def _resize_by_products(g: Conversion) -> str:
    """Resizing as a product with a matrix per axis: earlier operators have other coordinates."""
    f, y = g.func, g.x[0]
    for axis, n in ((3, f.out_W), (2, f.out_H)):
        eye = np.eye(g.fixed(0, axis), dtype=np.float32)
        # A column for each pixel.
        matrix = resize_images(
            eye[None, None], (n, len(eye)), mode=f.mode, align_corners=f.align_corners
        )
        turned = axis == 3
        left, right = g.like(matrix.array[0, 0].T if turned else matrix.array[0, 0]), y
        y = g.op('MatMul', [right, left] if turned else [left, right])
    return y


def _resized(g: Conversion, axis: int, n: int) -> Length:
    """What an axis gets: an open one that of another, or a multiple of its own (None)."""
    if isinstance(g.lengths(0)[axis], int):
        return n
    name = g.guess(n)
    return None if isinstance(name, int) and n % g.shape(0)[axis] == 0 else name


def _size(g: Conversion, axis: int, n: int) -> str:
    found = _resized(g, axis, n)
    if found is None:
        times = g.ints([n // g.shape(0)[axis]])
        return g.op('Mul', [g.length_of(g.x[0], axis), times])
    return g.length(found) if isinstance(found, str) else g.ints([found])


def _no_floats(g: Conversion) -> str:
    return g.const(np.zeros(0, np.float32), 'none')


def upsample(g: Conversion, x: str, scales: tp.Sequence[float]) -> str:
    """Repeats elements as often as the scales say."""
    if g.opset < 9:
        return g.op('Upsample', [x], scales=list(scales), mode='nearest')
    name = g.const(np.array(scales, np.float32), 'scales')
    if g.opset < 10:
        return g.op('Upsample', [x, name], mode='nearest')
    if g.opset < 11:
        return g.op('Resize', [x, name], mode='nearest')
    roi = '' if g.opset >= 13 else _no_floats(g)
    return g.op(
        'Resize',
        [x, roi, name],
        mode='nearest',
        coordinate_transformation_mode='asymmetric',
        nearest_mode='floor',
    )


def _axis(axis: int, ndim: int) -> int:
    return int(axis) % ndim if ndim else 0


def _axes(axis: int | tp.Sequence[int], ndim: int) -> list[int]:
    axes = (axis,) if isinstance(axis, int) else axis
    return sorted(_axis(i, ndim) for i in axes)
