"""Arrays of several lengths in one."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.array.concat import to_sequence
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class PadSequence(BuiltinFunction):
    """See `pad_sequence`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() > 0)
        first = in_types[0]
        type_check.expect(first.ndim > 0)
        for x in in_types:
            type_check.expect(x.dtype == first.dtype, x.shape[1:] == first.shape[1:])
            if self.length is not None:
                type_check.expect(x.shape[0] <= self.length)

    @staticmethod
    def compose(*xs: chainerx.ndarray, length: int | None, padding: float) -> chainerx.ndarray:
        if length is None:
            length = max(len(x) for x in xs)
        padding = xs[0].dtype.type(padding).item()
        rest = [(0, 0)] * (xs[0].ndim - 1)
        return chainerx.stack(
            [chainerx.pad(x, [(0, length - len(x)), *rest], 'constant', padding) for x in xs]
        )


def pad_sequence(
    xs: tp.Iterable[VariableLike], length: int | None = None, padding: float = 0
) -> variable.Variable:
    """Arrays of several lengths, stacked and padded at their ends.

    Args:
        xs (iterable of Variable or array): One or more, of one dtype; the same shapes, but for the
            length of the first axis.
        length (int): The length of the result along its second axis; None takes the greatest.
        padding (float): The value of the padding.

    Returns:
        Variable: (number of arrays, length, ...). Differentiable in all of them, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or there is no array.
    """
    xs = to_sequence('pad_sequence', xs)
    return PadSequence.call(*xs, length=length, padding=padding)
