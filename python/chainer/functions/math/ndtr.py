"""The normal distribution."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Ndtr(FloatUnary):
    """See `ndtr`."""

    label = 'ndtr'
    compose = staticmethod(chainerx.special.ndtr)


def ndtr(x: VariableLike) -> variable.Variable:
    """The distribution function of the normal distribution, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Ndtr.call(x)
