"""Exponential and logarithms."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary


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


def exp(x: tp.Any) -> variable.Variable:
    """The exponential, elementwise. Any float dtype; differentiable, any order."""
    return Exp.call(x)


def log(x: tp.Any) -> variable.Variable:
    """The natural logarithm, elementwise: -inf at 0, NaN below. Differentiable, any order."""
    return Log.call(x)


def log2(x: tp.Any) -> variable.Variable:
    """The logarithm to base 2, elementwise: -inf at 0, NaN below. Differentiable, any order."""
    return Log2.call(x)


def log10(x: tp.Any) -> variable.Variable:
    """The logarithm to base 10, elementwise: -inf at 0, NaN below. Differentiable, any order."""
    return Log10.call(x)
