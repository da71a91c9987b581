"""Quantiles of the normal distribution."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Ndtri(FloatUnary):
    """See `ndtri`."""

    label = 'ndtri'
    compose = staticmethod(chainerx.special.ndtri)


def ndtri(x: VariableLike) -> variable.Variable:
    """The inverse of `ndtr`, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype. 0 and 1 give infinities, values beyond
            them give NaN.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Ndtri.call(x)
