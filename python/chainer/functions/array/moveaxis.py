"""Axes moved to other places."""

from __future__ import annotations

import operator
import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import Axis, InTypes, VariableLike


class Moveaxis(BuiltinFunction):
    """See `moveaxis`; both attributes are tuples."""

    source: tuple[int, ...]
    destination: tuple[int, ...]

    compose = routine(chainerx.moveaxis, source=..., destination=...)

    def _prepare(self) -> None:
        self.source = _to_axes('source', self.source)
        self.destination = _to_axes('destination', self.destination)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        (x,) = in_types
        for axis in (*self.source, *self.destination):
            type_check.expect(x.ndim > axis if axis >= 0 else x.ndim >= -axis)


def moveaxis(x: VariableLike, source: Axis, destination: Axis) -> variable.Variable:
    """Moves axes to other places; the others keep their order.

    Args:
        x (Variable or array): Any shape and dtype.
        source (int or tuple of int): The axes.
        destination (int or tuple of int): For each of them its place.

    Returns:
        Variable: A view. Differentiable, any order.

    Raises:
        InvalidType: If there is no such axis.
        ValueError: If an axis is named twice, or numbers of axes and places differ.
        TypeError: If these are no integers.
    """
    return Moveaxis.call(
        x, source=_to_axes('source', source), destination=_to_axes('destination', destination)
    )


def _to_axes(name: str, axes: Axis) -> tuple[int, ...]:
    if isinstance(axes, int):
        return (axes,)
    try:
        return tuple(map(operator.index, axes))
    except TypeError:
        text = f'moveaxis: {name} is {axes!r}, expected an int or a tuple of int'
        raise TypeError(text) from None
