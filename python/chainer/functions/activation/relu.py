"""The rectifier."""

from __future__ import annotations

import typing as tp

from chainerx._core import _relu

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class ReLU(BuiltinFunction):
    """See `relu`."""

    is_elementwise = True
    # Unlike chainerx.relu, it keeps y instead of x; the derivative at 0 differs for that.
    compose = staticmethod(_relu)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')


def relu(x: VariableLike) -> variable.Variable:
    """The rectifier, ``max(x, 0)``, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order; the gradient at 0 is 0.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return ReLU.call(x)
