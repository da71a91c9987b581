"""The digamma function."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class DiGamma(FloatUnary):
    """See `digamma`."""

    label = 'digamma'
    compose = staticmethod(chainerx.special.digamma)


def digamma(x: VariableLike) -> variable.Variable:
    """The derivative of `lgamma`, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.
            Infinite at 0, NaN at negative whole numbers.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return DiGamma.call(x)
