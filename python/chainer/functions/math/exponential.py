"""Exponential and logarithms."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Exp(FloatUnary):
    """See `exp`."""

    label = 'exp'
    compose = staticmethod(chainerx.exp)


class Log(FloatUnary):
    """See `log`."""

    label = 'log'
    compose = staticmethod(chainerx.log)


class Log2(FloatUnary):
    """See `log2`."""

    label = 'log2'
    compose = staticmethod(chainerx.log2)


class Log10(FloatUnary):
    """See `log10`."""

    label = 'log10'
    compose = staticmethod(chainerx.log10)


def exp(x: VariableLike) -> variable.Variable:
    """The exponential, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Exp.call(x)


def log(x: VariableLike) -> variable.Variable:
    """The natural logarithm, elementwise: -inf at 0, NaN below.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Log.call(x)


def log2(x: VariableLike) -> variable.Variable:
    """The logarithm to base 2, elementwise: -inf at 0, NaN below.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Log2.call(x)


def log10(x: VariableLike) -> variable.Variable:
    """The logarithm to base 10, elementwise: -inf at 0, NaN below.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Log10.call(x)
