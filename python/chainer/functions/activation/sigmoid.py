"""The logistic function."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions.activation._unary import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Sigmoid(FloatUnary):
    """See `sigmoid`."""

    compose = staticmethod(chainerx.sigmoid)


def sigmoid(x: VariableLike) -> variable.Variable:
    """The logistic function, ``1 / (1 + exp(-x))``, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Sigmoid.call(x)
