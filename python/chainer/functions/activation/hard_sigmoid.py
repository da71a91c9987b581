"""A sigmoid of straight lines."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import engine

from chainer import variable
from chainer.functions.activation._unary import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


def _compute(x: chainerx.ndarray) -> chainerx.ndarray:
    return chainerx.clipped_relu(x * 0.2 + 0.5, 1.0)


def _gradient(
    gy: chainerx.ndarray, needed: tuple[bool, ...], inputs: tuple[chainerx.ndarray, ...], y: None
) -> tuple[chainerx.ndarray, ...]:
    return (chainerx.where(chainerx.absolute(inputs[0]) < 2.5, gy * 0.2, 0),)


class HardSigmoid(FloatUnary):
    """See `hard_sigmoid`."""

    compose = staticmethod(engine.WithGradient('hard_sigmoid', _compute, _gradient))


def hard_sigmoid(x: VariableLike) -> variable.Variable:
    """``min(max(0.2 * x + 0.5, 0), 1)``, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return HardSigmoid.call(x)
