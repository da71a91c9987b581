"""Elements in reverse order along the second axis."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class FlipLR(BuiltinFunction):
    """See `fliplr`."""

    compose = staticmethod(chainerx.fliplr)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('a',))
        type_check.expect(in_types[0].ndim >= 2)


def fliplr(a: VariableLike) -> variable.Variable:
    """The elements in reverse order along the second axis.

    Args:
        a (Variable or array): Any shape of at least 2 axes, any dtype.

    Returns:
        Variable: A view of the same shape. Differentiable, any order.

    Raises:
        InvalidType: If there is no such axis.
    """
    return FlipLR.call(a)
