"""Hyperbolic functions; `tanh` is among the activations."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Cosh(FloatUnary):
    """See `cosh`."""

    label = 'cosh'
    compose = staticmethod(chainerx.cosh)


class Sinh(FloatUnary):
    """See `sinh`."""

    label = 'sinh'
    compose = staticmethod(chainerx.sinh)


def cosh(x: VariableLike) -> variable.Variable:
    """The hyperbolic cosine, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Cosh.call(x)


def sinh(x: VariableLike) -> variable.Variable:
    """The hyperbolic sine, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Sinh.call(x)
