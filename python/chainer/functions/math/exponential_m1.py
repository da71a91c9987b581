"""Exponential minus one."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Expm1(FloatUnary):
    """See `expm1`."""

    label = 'expm1'
    compose = staticmethod(chainerx.expm1)


def expm1(x: VariableLike) -> variable.Variable:
    """``exp(x) - 1``, elementwise, precise near 0.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Expm1.call(x)
