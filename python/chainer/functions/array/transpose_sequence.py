"""Sequences by time."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check


class TransposeSequence(BuiltinFunction):
    """See `transpose_sequence`; ``length`` is without effect."""

    def __init__(self, length: tp.Any) -> None:
        self.length = length

    def check_type_forward(self, in_types: tp.Any) -> None:
        for i in range(1, type_check.eval(in_types.size())):
            previous, x = in_types[i - 1], in_types[i]
            type_check.expect(
                previous.shape[0] >= x.shape[0],
                previous.dtype == x.dtype,
                previous.shape[1:] == x.shape[1:],
            )

    @staticmethod
    def compose(*xs: chainerx.ndarray) -> tuple[chainerx.ndarray, ...]:
        steps = [chainerx.split(x, len(x), 0) if len(x) else [] for x in xs]
        return tuple(
            chainerx.concatenate([parts[t] for parts in steps if t < len(parts)], 0)
            for t in range(len(steps[0]))
        )


def transpose_sequence(xs: tp.Sequence[tp.Any]) -> tuple[variable.Variable, ...]:
    """For each time the elements of all sequences that are long enough.

    Args:
        xs (sequence of Variable or array): Of one dtype, of falling length; the same shapes, but
            for the length of the first axis.

    Returns:
        tuple of Variable: As many as the first is long, each of the shape (sequences that are
        long enough, ...). Differentiable in all of them, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or lengths rise.
    """
    if not len(xs):
        return ()
    ys = TransposeSequence.call(*xs)
    return ys
