"""The leaky rectifier."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions.activation._unary import FloatUnary


class LeakyReLU(FloatUnary):
    """See `leaky_relu`."""

    attributes: tp.ClassVar = {'slope': 0.2}

    # Unlike chainerx.leaky_relu, it has derivative ``slope`` at 0, as v7.
    @staticmethod
    def compose(x: chainerx.ndarray, slope: float) -> chainerx.ndarray:
        return chainerx.where(x > 0, x, x * slope)


def leaky_relu(x: tp.Any, slope: float = 0.2) -> variable.Variable:
    """``x`` where positive, ``slope * x`` elsewhere.

    Args:
        x (Variable or array): Any shape, any float dtype.
        slope (float): See above.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order; the derivative
        at 0 is ``slope``.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return LeakyReLU.call(x, slope)
