"""The scaled complementary error function."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Erfcx(FloatUnary):
    """See `erfcx`."""

    label = 'erfcx'
    compose = staticmethod(chainerx.special.erfcx)


def erfcx(x: VariableLike) -> variable.Variable:
    """``exp(x**2) * erfc(x)``, elementwise, without overflow or underflow above 0.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Erfcx.call(x)
