"""Arrays repeated as a whole."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Tile(BuiltinFunction):
    """See `tile`; ``reps`` is a tuple."""

    reps: tuple[int, ...]

    check_uses_attributes = False
    compose = routine(chainerx.tile, reps=...)

    def _prepare(self) -> None:
        self.reps = to_counts('tile', 'reps', self.reps)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() == 1)


def tile(x: VariableLike, reps: int | tuple[int, ...]) -> variable.Variable:
    """An array repeated along its axes.

    Args:
        x (Variable or array): Any shape and dtype.
        reps (int or tuple of int): How often along each axis. The last one stands for the last
            axis; missing ones are 1, axes are added if there are too many.

    Returns:
        Variable: The shape of ``x`` times ``reps``, its dtype. Differentiable, any order.

    Raises:
        TypeError: If ``reps`` is neither.
        ValueError: If one of them is negative.
    """
    return Tile.call(x, reps=to_counts('tile', 'reps', reps))


def to_counts(op: str, name: str, counts: int | tuple[int, ...]) -> tuple[int, ...]:
    """A tuple of integers that are not negative, from one or a tuple of them."""
    if isinstance(counts, int):
        counts = (counts,)
    elif not isinstance(counts, tuple) or not all(isinstance(n, int) for n in counts):
        raise TypeError(f'{op}: {name} is {counts!r}, expected an int or a tuple of int')
    if any(n < 0 for n in counts):
        raise ValueError(f'{op}: {name} is {counts}, expected no negative numbers')
    return counts
