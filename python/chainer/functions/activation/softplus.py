"""The smooth rectifier."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.declaration import routine
from chainer.functions.activation._unary import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Softplus(FloatUnary):
    """See `softplus`."""

    compose = routine(chainerx.softplus, beta=1.0)

    @property
    def beta_inv(self) -> float:
        """The inverse of ``beta``."""
        return 1.0 / self.beta


def softplus(x: VariableLike, beta: float = 1.0) -> variable.Variable:
    """The smooth rectifier, ``log(1 + exp(beta * x)) / beta``, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.
        beta (float): Sharpness.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.

    Note:
        Evaluated as ``max(x, 0) + log1p(exp(-|x|))``; no overflow for large ``x``.
    Source: Dugas et al., NIPS 2000.
    """
    return Softplus.call(x, beta=float(beta))
