"""Logarithm of one plus a number."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Log1p(FloatUnary):
    """See `log1p`."""

    label = 'log1p'
    compose = staticmethod(chainerx.log1p)


def log1p(x: VariableLike) -> variable.Variable:
    """``log(1 + x)``, elementwise, precise near 0: -inf at -1, NaN below.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Log1p.call(x)
