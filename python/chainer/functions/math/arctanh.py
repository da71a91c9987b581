"""The inverse hyperbolic tangent."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary


class Arctanh(FloatUnary):
    """See `arctanh`."""

    compose = staticmethod(chainerx.arctanh)


def arctanh(x: tp.Any) -> variable.Variable:
    """The inverse hyperbolic tangent, elementwise, NaN outside of [-1, 1].

    Any float dtype; differentiable, any order, inside the interval.
    """
    return Arctanh.call(x)
