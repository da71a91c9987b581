"""Two axes exchanged."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Swapaxes(BuiltinFunction):
    """See `swapaxes`."""

    check_uses_attributes = False
    compose = routine(chainerx.swapaxes, axis1=..., axis2=...)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() == 1)


def swapaxes(x: VariableLike, axis1: int, axis2: int) -> variable.Variable:
    """Exchanges two axes.

    Args:
        x (Variable or array): Any shape and dtype.
        axis1 (int): The one.
        axis2 (int): The other; negative ones count from the end.

    Returns:
        Variable: A view. Differentiable, any order.

    Raises:
        ValueError: If there is no such axis.
    """
    return Swapaxes.call(x, axis1=axis1, axis2=axis2)
