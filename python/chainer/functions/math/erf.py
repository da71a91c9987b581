"""The error function."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Erf(FloatUnary):
    """See `erf`."""

    label = 'erf'
    compose = staticmethod(chainerx.erf)


def erf(x: VariableLike) -> variable.Variable:
    """The error function, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Erf.call(x)
