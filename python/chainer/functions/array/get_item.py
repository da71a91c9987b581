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

if tp.TYPE_CHECKING:
    from chainer._typing import Arrays, Index, VariableLike


class GetItem(BuiltinFunction):
    """See `get_item`; ``slices`` is a tuple."""

    slices: tuple[Index, ...]

    compose = routine(operator.getitem, slices=...)

    def _prepare(self) -> None:
        self.slices = _to_indices(self.slices)

    def _check_in_debug_mode(self, in_data: Arrays) -> None:
        check_ellipses('get_item', self.slices)


def get_item(x: VariableLike, slices: Index | tuple[Index, ...]) -> variable.Variable:
    """``x[slices]``, as NumPy has it.

    Args:
        x (Variable or array): Any shape and dtype.
        slices: Integers, slices, None, Ellipsis, arrays or lists of integers or of bool, ranges, or
            a tuple of such. A list that has anything but ints is such a tuple.

    Returns:
        Variable: A view where only integers, slices, None and Ellipsis are used, else a copy.
        Differentiable, any order.

    Raises:
        IndexError: If an index is out of range.
    """
    return GetItem.call(x, slices=_to_indices(slices))


def _to_indices(slices: Index | tuple[Index, ...]) -> tuple[Index, ...]:
    slices = _to_tuple(slices)
    if any(isinstance(s, variable.Variable | list | range | cuda.ndarray) for s in slices):
        slices = tuple(map(_to_index, slices))
    return slices


def _to_tuple(slices: Index | tuple[Index, ...]) -> tuple[Index, ...]:
    """A list of ints is one index, any other list a tuple of them, as in v7."""
    if isinstance(slices, list) and not all(isinstance(s, int | np.bool_) for s in slices):
        return tuple(slices)
    return slices if isinstance(slices, tuple) else (slices,)


def check_ellipses(op: str, slices: tuple[Index, ...]) -> None:
    """Return the text that debug mode shows instead of the array's IndexError."""
    if sum(s is Ellipsis for s in slices) > 1:
        raise ValueError(f'{op}: slices has more than one Ellipsis')


def _to_array(index: list[int]) -> np.ndarray:
    array = np.asarray(index)
    return array if array.size else array.astype(np.intp)  # an empty list has no dtype


def _to_index(index: Index) -> Index:
    """Return a variable or list as an array, also where chainerx does not recognize it as one."""
    if isinstance(index, range):
        index = list(index)
    if engine.is_capturing() and isinstance(index, list) and index:
        return index  # by its values, which an array of NumPy would hide
    index = _to_array(index) if isinstance(index, list) else variable.as_array(index)
    return engine.side(index) if isinstance(index, cuda.ndarray) else index


engine.set_callbacks(getitem=get_item)
engine.set_operator('getitem', GetItem.call)
