"""The logarithm of the gamma function."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class LGamma(FloatUnary):
    """See `lgamma`."""

    label = 'lgamma'
    compose = staticmethod(chainerx.special.lgamma)


def lgamma(x: VariableLike) -> variable.Variable:
    """The logarithm of the absolute value of the gamma function, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.
            Infinite at 0 and at negative whole numbers.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return LGamma.call(x)
