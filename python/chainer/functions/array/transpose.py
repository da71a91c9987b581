"""Axes in another order."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import engine

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Transpose(BuiltinFunction):
    """See `transpose`."""

    check_uses_attributes = False
    compose = routine(chainerx.transpose, axes=None)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() == 1)


def transpose(x: VariableLike, axes: int | tp.Sequence[int] | None = None) -> variable.Variable:
    """The axes in another order.

    Args:
        x (Variable or array): Any shape and dtype.
        axes (tuple of int): For each axis of the result the one of ``x``; None reverses them.

    Returns:
        Variable: A view. Differentiable, any order.

    Raises:
        ValueError: If ``axes`` is not a permutation of the axes of ``x``.
    """
    return Transpose.call(x, axes=axes)


engine.set_method('transpose', Transpose.call)
