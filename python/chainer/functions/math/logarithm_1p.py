"""Logarithm of one plus a number."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary


class Log1p(FloatUnary):
    """See `log1p`."""

    label = 'log1p'
    compose = staticmethod(chainerx.log1p)


def log1p(x: tp.Any) -> variable.Variable:
    """``log(1 + x)``, elementwise, precise near 0. Any float dtype; differentiable, any order."""
    return Log1p.call(x)
