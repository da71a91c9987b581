"""A smooth activation that is not monotonic."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions.activation._unary import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Mish(FloatUnary):
    """See `mish`."""

    compose = staticmethod(chainerx.mish)


def mish(x: VariableLike) -> variable.Variable:
    """``x * tanh(log(1 + exp(x)))``, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.

    Source: Misra, arXiv:1908.08681, 2019.
    """
    return Mish.call(x)
