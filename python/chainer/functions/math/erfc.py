"""The complementary error function."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Erfc(FloatUnary):
    """See `erfc`."""

    label = 'erfc'
    compose = staticmethod(chainerx.special.erfc)


def erfc(x: VariableLike) -> variable.Variable:
    """``1 - erf(x)``, elementwise, precise where erf is near 1.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Erfc.call(x)
