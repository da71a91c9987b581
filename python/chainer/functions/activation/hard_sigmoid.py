"""A sigmoid of straight lines."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions.activation._unary import FloatUnary


class HardSigmoid(FloatUnary):
    """See `hard_sigmoid`."""

    @staticmethod
    def compose(x: chainerx.ndarray) -> chainerx.ndarray:
        return chainerx.clipped_relu(x * 0.2 + 0.5, 1.0)


def hard_sigmoid(x: tp.Any) -> variable.Variable:
    """``min(max(0.2 * x + 0.5, 0), 1)``, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return HardSigmoid.call(x)
