"""The inverse of the error function."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class ErfInv(FloatUnary):
    """See `erfinv`."""

    label = 'erfinv'
    compose = staticmethod(chainerx.special.erfinv)


def erfinv(x: VariableLike) -> variable.Variable:
    """The inverse of `erf`, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype. -1 and 1 give infinities, values beyond
            them give NaN.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return ErfInv.call(x)
