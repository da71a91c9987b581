"""The exponential linear unit."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.declaration import routine
from chainer.functions.activation._unary import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class ELU(FloatUnary):
    """See `elu`."""

    compose = routine(chainerx.elu, alpha=1.0)


def elu(x: VariableLike, alpha: float = 1.0) -> variable.Variable:
    """``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere.

    Args:
        x (Variable or array): Any shape, any float dtype.
        alpha (float): See above.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.

    Source: Clevert et al., ICLR 2016.
    """
    return ELU.call(x, alpha=float(alpha))
