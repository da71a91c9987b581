"""vmap: maps a function of one example to a function of a batch."""

from __future__ import annotations

import collections.abc as c
import functools
import typing as tp

import chainerx
from chainerx import _core
from chainerx.func import _batch, _tree
from chainerx.func._batch import Batched, Level
from chainerx.func._calls import check_function

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Operand, Tree

Function = c.Callable[..., tp.Any]


def vmap(
    fun: Function,
    in_axes: Tree = 0,
    out_axes: Tree = 0,
    randomness: str = 'error',
    chunk_size: int | None = None,
) -> Function:
    """A function of one example becomes one of a batch of them.

    The function is called once, with batches that look like the array of one example. Each routine
    has a rule for them; one without a rule runs example by example, with a `BatchingWarning`.

    Args:
        fun (callable): Takes arrays or trees of them, and returns such.
        in_axes (int, None, or a tree of them): The axis of the examples in each positional
            argument; None where it is the same for all. One value may stand for a whole tree.
            Arrays among keyword arguments have the examples along axis 0.
        out_axes (int, None, or a tree of them): Where they are in the result; None for what is the
            same for all.
        randomness (str): What random numbers are: 'error' refuses to draw any, 'different' are
            other ones for each example, 'same' the same for all.
        chunk_size (int): How many examples to compute at a time; None for all.

    Returns:
        callable: Takes what ``fun`` takes, with one more axis, and returns what it returns, with
        one more. Differentiable. Can be nested, also with `grad`, `jvp` and the others, in any
        order.

    Raises:
        ValueError: If no array is mapped, examples are not of one number, or ``randomness`` is
            something else.
        TypeError: If ``fun`` can't be called; if it asks for the values of a batch, as ``if x > 0``
            does, or ``in_axes`` do not have the form of the arguments.
        DimensionError: If an axis is out of range.
    """
    if randomness not in ('error', 'same', 'different'):
        raise ValueError(
            f"vmap: randomness is {randomness!r}, expected 'error', 'same' or 'different'"
        )
    check_function('vmap', fun)
    check_chunk_size('vmap', chunk_size)

    @functools.wraps(fun)
    def mapped(*args: Argument, **kwargs: Argument) -> Tree:
        inputs = _Inputs(args, kwargs, in_axes)
        if randomness == 'same' and chunk_size is not None and inputs.size > chunk_size:
            raise ValueError("vmap: randomness='same' has no chunks: chunk_size must be None")
        return _run_chunks(fun, inputs, out_axes, randomness, chunk_size)

    return mapped


def check_chunk_size(op: str, chunk_size: int | None) -> None:
    """Raises unless it is a number of examples, or None for all."""
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f'{op}: chunk_size is {chunk_size}, expected 1 or more')


def with_same_numbers(
    fun: Function,
    x: Operand,
    out_axes: Tree,
    chunk_size: int | None,
    numbers: c.Callable[[c.Callable[[], Tree]], Tree],
) -> Tree:
    """`fun` of each part of `x`, by way of `numbers`, so that each chunk draws the same ones.

    `x` are directions: what values `fun` asks for are the same for all of them.
    """

    def function(y: Operand) -> Tree:
        def call() -> Tree:
            result = fun(y)
            for do in _batch.state.levels[-1].afterwards:
                do()
            return result

        return numbers(call)

    return _run_chunks(function, _Inputs((x,), {}, 0), out_axes, 'same', chunk_size, uniform=True)


def _run_chunks(
    fun: Function,
    inputs: _Inputs,
    out_axes: Tree,
    randomness: str,
    chunk_size: int | None,
    uniform: bool = False,
) -> Tree:
    if chunk_size is None or inputs.size <= chunk_size:
        return _run(fun, inputs, out_axes, randomness, uniform)
    parts = []
    for start in range(0, inputs.size, chunk_size):
        part = inputs.part(start, min(start + chunk_size, inputs.size))
        parts.append(_run(fun, part, out_axes, randomness, uniform))
    return _join(parts, out_axes)


class _Inputs:
    """The arguments of a call, the axis of each leaf, and the number of examples."""

    def __init__(self, args: Argument, kwargs: Argument, in_axes: Tree) -> None:
        self.leaves, self.structure = _tree.flatten((args, kwargs))
        args_form = self.structure.parts[0]
        if isinstance(in_axes, list):
            in_axes = tuple(in_axes)
        self.axes = _tree.broadcast_prefix(in_axes, args_form, 'vmap: in_axes')
        self.axes += [0 if _batch.is_array(x) else None for x in self.leaves[args_form.count :]]
        sizes: dict[int, int] = {}
        for i, (x, axis) in enumerate(zip(self.leaves, self.axes, strict=True)):
            if axis is None:
                continue
            if not _batch.is_array(x):
                raise TypeError(
                    f'vmap: in_axes has {axis} for an argument of type {type(x).__name__}, '
                    'expected None'
                )
            if not -x.ndim <= axis < x.ndim:
                raise chainerx.DimensionError(
                    f'vmap: in_axes has {axis} for an array of shape {x.shape}'
                )
            sizes[i] = x.shape[axis]
        if not sizes:
            raise ValueError('vmap: no argument is mapped: in_axes are None, or there is no array')
        if len(set(sizes.values())) > 1:
            raise ValueError(
                'vmap: the arrays that are mapped have '
                + ' and '.join(f'{n} (argument leaf {i})' for i, n in sizes.items())
                + ' examples, expected one number'
            )
        self.size = next(iter(sizes.values()))

    def part(self, start: int, stop: int) -> _Inputs:
        """A chunk of the examples."""
        part = object.__new__(_Inputs)
        part.structure = self.structure
        part.axes = self.axes
        part.size = stop - start
        part.leaves = []
        for x, axis in zip(self.leaves, self.axes, strict=True):
            if axis is not None:
                x = x[(slice(None),) * (axis % x.ndim) + (slice(start, stop),)]
            part.leaves.append(x)
        return part

    def batches(self, level: Level) -> tuple[Operand, Operand]:
        """The arguments of the function."""
        values = []
        for x, axis in zip(self.leaves, self.axes, strict=True):
            if axis is not None:
                x = Batched(x if axis == 0 else chainerx.moveaxis(x, axis, 0), level)
            values.append(x)
        return tp.cast(tuple[tp.Any, tp.Any], _tree.unflatten(self.structure, values))


def _run(fun: Function, inputs: _Inputs, out_axes: Tree, randomness: str, uniform: bool) -> Tree:
    levels = _batch.state.levels
    number = levels[-1].number + 1 if levels else 1
    level = Level(number, inputs.size, randomness, uniform)
    args, kwargs = inputs.batches(level)
    _core._count_vmaps(1)
    try:
        levels.append(level)
        result = fun(*args, **kwargs)
        leaves, structure = _batch.flatten_arrays(result, 'vmap: the result of the function')
    finally:
        level.active = False
        levels.remove(level)
        _core._count_vmaps(-1)
    axes = _tree.broadcast_prefix(out_axes, structure, 'vmap: out_axes')
    outputs = [_unwrap(y, level, axis) for y, axis in zip(leaves, axes, strict=True)]
    return _tree.unflatten(structure, outputs)


def _unwrap(y: Operand, level: Level, axis: int | None) -> Tree:
    if axis is None:
        if _batch.is_batch(y, level):
            raise ValueError(
                f'vmap: out_axes has None for a result of shape {y.shape}, which is another one '
                'for each example'
            )
        return y
    if not -y.ndim - 1 <= axis <= y.ndim:
        raise chainerx.DimensionError(
            f'vmap: out_axes has {axis} for a result of shape {y.shape}, for each example'
        )
    if not _batch.is_batch(y, level):
        return _batch.spread(y, level.size, axis % (y.ndim + 1))
    return y.array if axis == 0 else chainerx.moveaxis(y.array, 0, axis)


def _join(parts: list[Tree], out_axes: Tree) -> Tree:
    """Concatenates the results of all chunks."""
    columns = []
    structure = _tree.NONE
    for part in parts:
        leaves, structure = _tree.flatten(part)
        columns.append(leaves)
    axes = _tree.broadcast_prefix(out_axes, structure, 'vmap: out_axes')
    joined = [
        column[0] if axis is None else chainerx.concatenate(list(column), axis)
        for column, axis in zip(zip(*columns, strict=True), axes, strict=True)
    ]
    return _tree.unflatten(structure, joined)
