"""Square roots."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary


class Sqrt(FloatUnary):
    """See `sqrt`."""

    label = 'sqrt'
    compose = staticmethod(chainerx.sqrt)


def sqrt(x: tp.Any) -> variable.Variable:
    """The square root, elementwise, NaN below 0. Any float dtype; differentiable, any order."""
    return Sqrt.call(x)


def rsqrt(x: tp.Any) -> variable.Variable:
    """``1 / sqrt(x)``, elementwise. Any float dtype; differentiable, any order."""
    return 1.0 / sqrt(x)
