"""Hyperbolic functions; `tanh` is among the activations."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary


class Cosh(FloatUnary):
    """See `cosh`."""

    label = 'cosh'
    compose = staticmethod(chainerx.cosh)


class Sinh(FloatUnary):
    """See `sinh`."""

    label = 'sinh'
    compose = staticmethod(chainerx.sinh)


def cosh(x: tp.Any) -> variable.Variable:
    """The hyperbolic cosine, elementwise. Any float dtype; differentiable, any order."""
    return Cosh.call(x)


def sinh(x: tp.Any) -> variable.Variable:
    """The hyperbolic sine, elementwise. Any float dtype; differentiable, any order."""
    return Sinh.call(x)
