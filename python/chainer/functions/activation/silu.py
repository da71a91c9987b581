"""The sigmoid linear unit."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions.activation._unary import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class SiLU(FloatUnary):
    """See `silu`."""

    compose = staticmethod(chainerx.silu)


def silu(x: VariableLike) -> variable.Variable:
    """``x * sigmoid(x)``, elementwise: `swish` with a ``beta`` of 1.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.

    Source: Elfwing et al., arXiv:1702.03118, 2017.
    """
    return SiLU.call(x)
