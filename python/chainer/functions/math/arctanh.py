"""The inverse hyperbolic tangent."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Arctanh(FloatUnary):
    """See `arctanh`."""

    compose = staticmethod(chainerx.arctanh)


def arctanh(x: VariableLike) -> variable.Variable:
    """The inverse hyperbolic tangent, elementwise: infinite at -1 and 1, NaN beyond.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order, between these.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Arctanh.call(x)
