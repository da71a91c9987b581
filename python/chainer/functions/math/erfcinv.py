"""The inverse of the complementary error function."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class ErfcInv(FloatUnary):
    """See `erfcinv`."""

    label = 'erfcinv'
    compose = staticmethod(chainerx.special.erfcinv)


def erfcinv(x: VariableLike) -> variable.Variable:
    """The inverse of `erfc`, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype. 0 and 2 give infinities, values beyond
            them give NaN.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return ErfcInv.call(x)
