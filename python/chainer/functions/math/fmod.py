"""The remainder of a division, as C has it."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatBinary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Fmod(FloatBinary):
    """See `fmod`."""

    names = ('x', 'divisor')
    label = 'fmod'
    compose = staticmethod(chainerx.fmod)


def fmod(x: VariableLike, divisor: VariableLike) -> variable.Variable:
    """The remainder of ``x / divisor`` rounded towards 0, elementwise, with broadcasting.

    Args:
        x, divisor (Variable or array): Any shapes that broadcast, one float dtype. The result has
            the sign of ``x``.

    Returns:
        Variable: The common shape, their dtype. Differentiable in both, any order, where it does
        not jump.

    Raises:
        InvalidType: If dtypes differ or are not floats, or shapes do not broadcast.
    """
    return Fmod.call(x, divisor)
