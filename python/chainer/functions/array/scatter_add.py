"""Values added at indices."""

from __future__ import annotations

import typing as tp

from chainerx._core import engine

from chainer import backend, variable
from chainer.function_node import FunctionNode
from chainer.functions.array.get_item import get_item
from chainer.utils import type_check


class ScatterAdd(FunctionNode):
    """See `scatter_add`; ``slices`` is a tuple."""

    def __init__(self, slices: tp.Any) -> None:
        self.slices = slices if isinstance(slices, tuple) else (slices,)

    def check_type_forward(self, in_types: tp.Any) -> None:
        type_check._argname(in_types, ('a', 'b'))
        a, b = in_types
        type_check.expect(a.dtype == b.dtype)

    def forward(self, inputs: tuple[tp.Any, ...]) -> tuple[tp.Any, ...]:
        a, b = inputs
        xp = backend.get_array_module(a)
        slices = tuple(_to_index(s, xp) for s in self.slices)
        shape = a[slices].shape
        if shape != b.shape:
            raise ValueError(f'scatter_add: a[slices] has shape {shape}, but b has {b.shape}')
        a = a.copy()
        xp.add.at(a, slices, b)
        return (a,)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[tp.Any, ...]
    ) -> tp.Any:
        (gy,) = grad_outputs
        return tuple(gy if i == 0 else get_item(gy, self.slices) for i in target_input_indexes)


def _to_index(index: tp.Any, xp: tp.Any) -> tp.Any:
    index = variable.as_array(index)
    return index if engine.kind(index) is None else xp.asarray(backend.from_chx(index))


def scatter_add(a: tp.Any, slices: tp.Any, b: tp.Any) -> variable.Variable:
    """A copy of ``a``, with ``b`` added to ``a[slices]``; an element picked twice gets both.

    Args:
        a (Variable or array): Any shape and dtype.
        slices: What `get_item` takes.
        b (Variable or array): The shape of ``a[slices]``, the dtype of ``a``.

    Returns:
        Variable: Shape of ``a``. Differentiable in ``a`` and ``b``, any order.

    Raises:
        InvalidType: If dtypes differ.
        ValueError: If ``b`` is of another shape.
        IndexError: If an index is out of range.

    Note:
        Computed by NumPy or CuPy; chainerx arrays fall back to it.
    """
    (y,) = ScatterAdd(slices).apply((a, b))
    return y
