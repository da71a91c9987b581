"""Square roots."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Sqrt(FloatUnary):
    """See `sqrt`."""

    label = 'sqrt'
    compose = staticmethod(chainerx.sqrt)


def sqrt(x: VariableLike) -> variable.Variable:
    """The square root, elementwise, NaN below 0.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order, except at 0.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Sqrt.call(x)


def rsqrt(x: VariableLike) -> variable.Variable:
    """``1 / sqrt(x)``, elementwise: infinite at 0, NaN below.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return 1.0 / sqrt(x)
