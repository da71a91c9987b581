"""Views by strides."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class AsStrided(BuiltinFunction):
    """See `as_strided`."""

    compose = routine(chainerx.as_strided, shape=..., strides=..., storage_offset=None)


def as_strided(
    x: VariableLike,
    shape: tp.Sequence[int],
    strides: tp.Sequence[int],
    storage_offset: int | None = None,
) -> variable.Variable:
    """A view of the memory of an array, with any shape and strides.

    Args:
        x (Variable or array): Any shape and dtype.
        shape (tuple of int): Of the view.
        strides (tuple of int): For each axis, the distance of its elements, counted in elements.
        storage_offset (int): The place of the first element in the memory of ``x``, which begins
            with its lowest element, or is that of a chainerx array it is a view of. By default
            that of ``x``.

    Returns:
        Variable: The given shape, the dtype of ``x``. Differentiable, any order; elements of ``x``
        that share memory share the gradient.

    Raises:
        ValueError: If the view would reach out of the memory, or strides do not fit.
    """
    return AsStrided.call(
        x, shape=tuple(shape), strides=tuple(strides), storage_offset=storage_offset
    )
