"""Indexing."""

from __future__ import annotations

import operator
import typing as tp

import numpy as np
from chainerx._core import engine

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.backends import cuda


class GetItem(BuiltinFunction):
    """See `get_item`; ``slices`` is a tuple."""

    slices: tuple[tp.Any, ...]

    compose = routine(operator.getitem, slices=...)

    def _prepare(self) -> None:
        self.slices = _to_indices(self.slices)


def get_item(x: tp.Any, slices: tp.Any) -> variable.Variable:
    """``x[slices]``, as NumPy has it.

    Args:
        x (Variable or array): Any shape and dtype.
        slices: Integers, slices, None, Ellipsis, arrays or lists of integers or of bool, ranges, or
            a tuple of such.

    Returns:
        Variable: A view where only integers, slices, None and Ellipsis are used, else a copy.
        Differentiable, any order.

    Raises:
        IndexError: If an index is out of range.
    """
    return GetItem.call(x, slices=_to_indices(slices))


def _to_indices(slices: tp.Any) -> tuple[tp.Any, ...]:
    if isinstance(slices, range):
        slices = list(slices)
    if isinstance(slices, list):
        slices = _list_to_index(slices)
    if not isinstance(slices, tuple):
        slices = (slices,)
    if any(isinstance(s, variable.Variable | list | range | cuda.ndarray) for s in slices):
        slices = tuple(map(_to_index, slices))
    return slices


def _list_to_index(slices: list[tp.Any]) -> tp.Any:
    """A list is an array of indices, unless it has slices in it."""
    return tuple(slices) if _has_slices(slices) else _to_array(slices)


def _has_slices(indices: list[tp.Any]) -> bool:
    return any(isinstance(s, slice) or s is None or s is Ellipsis for s in indices)


def _to_array(index: list[tp.Any]) -> np.ndarray:
    array = np.asarray(index)
    return array if array.size else array.astype(np.intp)  # an empty list has no dtype


def _to_index(index: tp.Any) -> tp.Any:
    """A variable or list as an array; what chainerx does not know as an array that it does."""
    if isinstance(index, range):
        index = list(index)
    index = _to_array(index) if isinstance(index, list) else variable.as_array(index)
    return engine.side(index) if isinstance(index, cuda.ndarray) else index


engine.set_callbacks(getitem=get_item)
engine.set_operator('getitem', GetItem.call)
