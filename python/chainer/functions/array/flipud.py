"""Elements in reverse order along the first axis."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class FlipUD(BuiltinFunction):
    """See `flipud`."""

    compose = staticmethod(chainerx.flipud)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('a',))
        type_check.expect(in_types[0].ndim >= 1)


def flipud(a: VariableLike) -> variable.Variable:
    """The elements in reverse order along the first axis.

    Args:
        a (Variable or array): Any shape of at least 1 axis, any dtype.

    Returns:
        Variable: A view of the same shape. Differentiable, any order.

    Raises:
        InvalidType: If there is no such axis.
    """
    return FlipUD.call(a)
