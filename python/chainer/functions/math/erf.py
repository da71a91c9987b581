"""The error function."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary


class Erf(FloatUnary):
    """See `erf`."""

    label = 'erf'
    compose = staticmethod(chainerx.erf)


def erf(x: tp.Any) -> variable.Variable:
    """The error function, elementwise. Any float dtype; differentiable, any order."""
    return Erf.call(x)
