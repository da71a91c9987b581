"""Arrays taken apart along an axis."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Separate(BuiltinFunction):
    """See `separate`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        (x,) = in_types
        type_check.expect(x.ndim > self.axis if self.axis >= 0 else x.ndim >= -self.axis)

    @staticmethod
    def compose(x: chainerx.ndarray, *, axis: int) -> tuple[chainerx.ndarray, ...]:
        # One node for all parts: their gradients are joined in one go.
        return tuple(y.squeeze(axis) for y in chainerx.split(x, x.shape[axis], axis))


def separate(x: VariableLike, axis: int = 0) -> tuple[variable.Variable, ...]:
    """The parts of an array along an axis, without that axis.

    Args:
        x (Variable or array): Any shape and dtype.
        axis (int): See above; its length is not 0.

    Returns:
        tuple of Variable: Views. Differentiable, any order.

    Raises:
        InvalidType: If there is no such axis.
    """
    return Separate.call(x, axis=axis)
