"""The leaky rectifier."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions.activation._unary import FloatUnary


class LeakyReLU(FloatUnary):
    """See `leaky_relu`."""

    attributes: tp.ClassVar = {'slope': 0.2}
    compose = staticmethod(chainerx.leaky_relu)


def leaky_relu(x: tp.Any, slope: float = 0.2) -> variable.Variable:
    """``x`` where not negative, ``slope * x`` elsewhere.

    Args:
        x (Variable or array): Any shape, any float dtype.
        slope (float): See above.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return LeakyReLU.call(x, slope)
