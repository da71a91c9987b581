"""Elements repeated."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.array.tile import to_counts
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Repeat(BuiltinFunction):
    """See `repeat`; ``repeats`` is a tuple."""

    repeats: tuple[int, ...]

    check_uses_attributes = False

    def _prepare(self) -> None:
        self.repeats = to_counts('repeat', 'repeats', self.repeats)
        _check_axis(self.axis)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() == 1)

    @staticmethod
    def compose(
        x: chainerx.ndarray, *, repeats: tuple[int, ...], axis: int | None = None
    ) -> chainerx.ndarray:
        return chainerx.repeat(x, repeats[0] if len(repeats) == 1 else repeats, axis)


def _check_axis(axis: int | None) -> None:
    if axis is not None and not isinstance(axis, int):
        raise TypeError(f'repeat: axis is {axis!r}, expected None or an int')


def repeat(
    x: VariableLike, repeats: int | tuple[int, ...], axis: int | None = None
) -> variable.Variable:
    """The elements, each several times.

    Args:
        x (Variable or array): Any shape and dtype.
        repeats (int or tuple of int): How often: all elements, or each along the axis.
        axis (int): See above; None takes the flattened array.

    Returns:
        Variable: The dtype of ``x``; the axis is longer, or the only one. Differentiable, any
        order.

    Raises:
        TypeError: If ``repeats`` or ``axis`` is none of these.
        ValueError: If one of ``repeats`` is negative, their number does not fit, or there is no
            such axis.
    """
    _check_axis(axis)
    return Repeat.call(x, repeats=to_counts('repeat', 'repeats', repeats), axis=axis)
