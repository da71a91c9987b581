"""The logarithm of the normal distribution."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class LogNdtr(FloatUnary):
    """See `log_ndtr`."""

    label = 'log_ndtr'
    compose = staticmethod(chainerx.special.log_ndtr)


def log_ndtr(x: VariableLike) -> variable.Variable:
    """The logarithm of `ndtr`, elementwise, also where that underflows.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return LogNdtr.call(x)
