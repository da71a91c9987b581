"""Values added at indices."""

from __future__ import annotations

import numbers
import typing as tp

import chainerx
import numpy as np
from chainerx._core import _scatter, engine

from chainer import variable
from chainer._graph.builtin import BuiltinFunction, _as_chainerx
from chainer.functions._index_errors import of_indices
from chainer.functions.array.get_item import _to_indices, _to_tuple, check_ellipses
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import Arrays, Index, InTypes, VariableLike


def _add(
    a: chainerx.ndarray, b: chainerx.ndarray, slices: Index | tuple[Index, ...]
) -> chainerx.ndarray:
    slices = _to_indices(slices)
    if len(slices) > a.ndim:
        _check_number(a, slices)
    if b.dtype != a.dtype:
        b = b.astype(a.dtype)
    if all(map(_is_basic, slices)):
        y = a.copy()
        part = y[slices]
        _check_shape(part.shape, b)
        if a.dtype == 'bool':
            part |= b
        else:
            part += b
        return y
    if len(slices) == 1 and a.ndim and _picks_rows(slices[0]):
        rows = _as_chainerx(slices[0]).to_device(a.device)
        _check_shape((*rows.shape, *a.shape[1:]), b)
        try:
            added = _scatter(b, rows, len(a))
        except IndexError as error:
            text = 'scatter_add: slices has {0}, the axis of a has length {1}'
            raise of_indices(error, text) from None
    else:
        # Where in a flat array each element of b goes.
        all_ = chainerx.arange(a.size, dtype='int64', device=a.device).reshape(a.shape)
        places = all_[slices]
        _check_shape(places.shape, b)
        added = _scatter(b.reshape(b.size), places.reshape(places.size), a.size).reshape(a.shape)
    return a | added if a.dtype == 'bool' else a + added


def _is_basic(index: Index) -> bool:
    if index is None or index is Ellipsis or isinstance(index, slice):
        return True
    return isinstance(index, numbers.Integral) and not isinstance(index, bool)


def _picks_rows(index: tp.Any) -> bool:
    return engine.kind(index) is not None and index.ndim == 1 and index.dtype.kind in 'iu'


def _check_number(a: chainerx.ndarray, slices: tuple[Index, ...]) -> None:
    n = sum(s is not None and s is not Ellipsis for s in slices)
    with type_check._naming('ScatterAdd'):
        type_check.expect(type_check.make_variable(a.ndim, 'a.ndim') >= n)


def _check_shape(shape: tuple[int, ...], b: chainerx.ndarray) -> None:
    if shape != b.shape:
        raise ValueError(f'scatter_add: a[slices] has shape {shape}, but b has {b.shape}')


def _gradient(
    gy: chainerx.ndarray,
    needed: tuple[bool, ...],
    inputs: None,
    y: None,
    slices: Index | tuple[Index, ...],
) -> tuple[chainerx.ndarray | None, ...]:
    return gy, gy[_to_indices(slices)] if needed[1] else None


# Keeps the indices alone.
_scatter_add = engine.WithGradient('scatter_add', _add, _gradient, n_params=1, keeps='')


class ScatterAdd(BuiltinFunction):
    """See `scatter_add`; ``slices`` is a tuple."""

    slices: tuple[Index, ...]

    check_uses_attributes = False

    def _prepare(self) -> None:
        self.slices = _kept(self.slices)

    def _check_in_debug_mode(self, in_data: Arrays) -> None:
        check_ellipses('scatter_add', self.slices)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('a', 'b'))
        a, b = in_types
        found, wanted = type_check.eval(b.dtype), type_check.eval(a.dtype)
        if not np.can_cast(found, wanted, 'same_kind'):
            type_check.expect(a.dtype == b.dtype)

    @staticmethod
    def compose(
        a: chainerx.ndarray, b: chainerx.ndarray, *, slices: Index | tuple[Index, ...]
    ) -> chainerx.ndarray:
        return tp.cast(chainerx.ndarray, _scatter_add(a, b, slices))


def scatter_add(
    a: VariableLike, slices: Index | tuple[Index, ...], b: VariableLike
) -> variable.Variable:
    """A copy of ``a``, with ``b`` added to ``a[slices]``; an element picked twice gets both.

    Args:
        a (Variable or array): Any shape and dtype.
        slices: Any index of `get_item`.
        b (Variable or array): The shape of ``a[slices]``; a dtype of the kind of that of ``a``,
            or lower; it is converted.

    Returns:
        Variable: Shape and dtype of ``a``. Differentiable in ``a`` and ``b``, any order.

    Raises:
        InvalidType: If ``b`` has floats and ``a`` integers, or there are too many indices.
        ValueError: If ``b`` is of another shape.
        IndexError: If an index is out of range.
    """
    return ScatterAdd.call(a, b, slices=_kept(slices))


def _kept(slices: Index | tuple[Index, ...]) -> tuple[Index, ...]:
    """A tuple of the same indices, with lists of their own: those of the caller may change."""
    return tuple(map(_copied, _to_tuple(slices)))


def _copied(index: Index) -> Index:
    return [_copied(i) for i in index] if isinstance(index, list) else index
