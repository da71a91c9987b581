"""The leaky rectifier."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import engine

from chainer import variable
from chainer.functions.activation._unary import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


# Unlike chainerx.leaky_relu, it has derivative ``slope`` at 0, as v7.
def _gradient(
    gy: chainerx.ndarray,
    needed: tuple[bool, ...],
    inputs: tuple[chainerx.ndarray, ...],
    y: chainerx.ndarray | None,
    slope: float,
) -> tuple[chainerx.ndarray, ...]:
    x = inputs[0] if y is None else y
    return (chainerx.where(x > 0, gy, gy * slope),)


_rising = engine.WithGradient('leaky_relu', chainerx.leaky_relu, _gradient, 1, keeps='y')
_falling = engine.WithGradient('leaky_relu', chainerx.leaky_relu, _gradient, 1, keeps='x')


class LeakyReLU(FloatUnary):
    """See `leaky_relu`."""

    @staticmethod
    def compose(x: chainerx.ndarray, *, slope: float = 0.2) -> chainerx.ndarray:
        # A falling line doesn't tell the sign of x.
        return _rising(x, slope) if slope >= 0 else _falling(x, slope)


def leaky_relu(x: VariableLike, slope: float = 0.2) -> variable.Variable:
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
    return LeakyReLU.call(x, slope=slope)
