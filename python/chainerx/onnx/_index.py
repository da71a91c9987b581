"""``x[index]`` in operators: slices, then arrays of indices, then new axes."""

from __future__ import annotations

import dataclasses
import typing as tp

import numpy as np

if tp.TYPE_CHECKING:
    from chainerx.onnx._writer import Writer

LAST = 2**62


Entry: tp.TypeAlias = tp.Any  # None, ..., a slice, an int, an array or a Value


@dataclasses.dataclass
class Value:
    """An array of indices that the graph computes, or that is an input of it."""

    name: str
    ndim: int
    dtype: np.dtype


ARRAYS: tp.Final = (np.ndarray, Value)


def entry(i: tp.Any) -> Entry:
    """An element of an index that is no value of the graph."""
    if i is None or i is Ellipsis or isinstance(i, slice):
        return i
    if isinstance(i, (bool, np.bool_)):
        raise ValueError('GetItem: a bool as index has no operator')
    if isinstance(i, (int, np.integer)):
        return int(i)
    array = np.asarray(i)
    return int(array) if array.ndim == 0 and array.dtype != bool else array


def get_item(g: Writer, x: str, shape: tuple[int, ...], index: list[Entry]) -> str:
    """The nodes of ``x[index]``.

    Args:
        g (Writer): Where they go.
        x (str): The value.
        shape (tuple of int): Its shape.
        index (list): The elements of the index, each by `entry` or a `Value`.

    Returns:
        str: The name of the result.
    """
    entries = list(index)
    ndim = len(shape)
    used = sum(_n_axes(e) for e in entries)
    if not any(e is Ellipsis for e in entries):
        entries.append(Ellipsis)
    place = next(i for i, e in enumerate(entries) if e is Ellipsis)
    entries[place : place + 1] = [slice(None)] * (ndim - used)
    entries = _without_masks(g, entries)
    if any(isinstance(e, ARRAYS) for e in entries):
        return _advanced(g, x, shape, entries)
    return _basic(g, x, entries)


def _n_axes(e: tp.Any) -> int:
    if e is None or e is Ellipsis:
        return 0
    return e.ndim if isinstance(e, ARRAYS) and e.dtype == bool else 1


def _without_masks(g: Writer, entries: list[tp.Any]) -> list[tp.Any]:
    found: list[tp.Any] = []
    for e in entries:
        if isinstance(e, Value) and e.dtype == bool:
            g.need(9, 'NonZero')
            rows = g.split(g.op('NonZero', [e.name]), [1] * e.ndim, 0)
            found += [Value(g.squeeze(row, [0]), 1, np.dtype(np.int64)) for row in rows]
        elif isinstance(e, np.ndarray) and e.dtype == bool:
            found += list(np.nonzero(e))
        else:
            found.append(e)
    return found


def _slices(g: Writer, x: str, entries: list[tp.Any]) -> str:
    """Applies slices and, as slices of length 1, integers."""
    starts, ends, axes, steps = [], [], [], []
    for axis, e in enumerate(e for e in entries if e is not None):
        if isinstance(e, int):
            starts.append(e)
            ends.append(e + 1 if e != -1 else LAST)
            steps.append(1)
        elif isinstance(e, slice) and e != slice(None):
            step = 1 if e.step is None else int(e.step)
            first, last = (0, LAST) if step > 0 else (-1, -LAST)
            starts.append(first if e.start is None else int(e.start))
            ends.append(last if e.stop is None else int(e.stop))
            steps.append(step)
        else:
            continue
        axes.append(axis)
    return g.slice(x, starts, ends, axes, steps if any(s != 1 for s in steps) else None)


def _basic(g: Writer, x: str, entries: list[tp.Any]) -> str:
    x = _slices(g, x, entries)
    kept = [e for e in entries if e is not None]
    x = g.squeeze(x, [i for i, e in enumerate(kept) if isinstance(e, int)])
    shown = [e for e in entries if not isinstance(e, int)]
    return g.unsqueeze(x, [i for i, e in enumerate(shown) if e is None])


def _advanced(g: Writer, x: str, shape: tuple[int, ...], entries: list[tp.Any]) -> str:
    x = _slices(g, x, [slice(None) if isinstance(e, int) else e for e in entries])
    is_index = [isinstance(e, (int, *ARRAYS)) for e in entries]
    first = is_index.index(True)
    together = all(is_index[first : first + sum(is_index)])
    kept = [e for e in entries if e is not None]
    axes = [i for i, e in enumerate(kept) if isinstance(e, (int, *ARRAYS))]
    rest = [i for i in range(len(kept)) if i not in axes]
    used = [kept[i] for i in axes]
    n_new = max(0 if isinstance(e, int) else e.ndim for e in used)
    places = _places(g, used, [shape[i] for i in axes])
    if len(axes) == 1:
        x = g.op('Gather', [x, places[0]], axis=axes[0])
        # Gather leaves the new axes where the old one was.
        order = [*range(axes[0], axes[0] + n_new), *range(axes[0])]
        order += range(axes[0] + n_new, len(rest) + n_new)
        x = g.transpose(x, order)
    else:
        g.need(11, 'GatherND')
        both = places[0]
        if len(places) > 1:
            both = g.concat([g.unsqueeze(i, [n_new]) for i in places], n_new)
        x = g.op('GatherND', [g.transpose(x, axes + rest), both])
    # Now the axes of the indices come first, then the rest.
    before = sum(e is not None for e in entries[:first]) if together else 0
    order = [n_new + i for i in range(before)] + list(range(n_new))
    order += [n_new + i for i in range(before, len(rest))]
    x = g.transpose(x, order)
    new_axes = []
    at = 0
    for i, e in enumerate(entries):
        if i == first and together:
            at += n_new
        if e is None:
            new_axes.append(at)
            at += 1
        elif not is_index[i]:
            at += 1
    if not together:
        new_axes = [i + n_new for i in new_axes]
    return g.unsqueeze(x, new_axes)


def _places(g: Writer, used: list[tp.Any], lengths: list[int]) -> list[str]:
    """The indices along several axes, in one shape; constants as one array for GatherND."""
    if not any(isinstance(e, Value) for e in used):
        arrays = list(np.broadcast_arrays(*[np.asarray(e, np.int64) for e in used]))
        wrapped = arrays
        if g.opset < 11 or not g.is_open:
            wrapped = [np.where(i < 0, i + n, i) for i, n in zip(arrays, lengths, strict=True)]
        return [g.const(wrapped[0] if len(used) == 1 else np.stack(wrapped, -1), 'indices')]
    # Operators wrap negative indices since version 11; before, runtimes refuse them.
    names = [
        g.cast(e.name, np.int64) if isinstance(e, Value) else g.const(e, 'indices', np.int64)
        for e in used
    ]
    if len(names) == 1:
        return names
    zero = g.const(0, 'zero', np.int64)
    zeros = g.op('Mul', [names[0], zero])
    for name in names[1:]:
        zeros = g.op('Add', [zeros, g.op('Mul', [name, zero])])
    return [g.op('Add', [name, zeros]) for name in names]
