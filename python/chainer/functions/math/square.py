"""Squares."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary


class Square(FloatUnary):
    """See `square`."""

    label = 'square'
    compose = staticmethod(chainerx.square)


def square(x: tp.Any) -> variable.Variable:
    """``x * x``, elementwise. Any float dtype; differentiable, any order."""
    return Square.call(x)
