"""The Gaussian error linear unit."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.declaration import routine
from chainer.functions.activation._unary import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class GELU(FloatUnary):
    """See `gelu`."""

    compose = routine(chainerx.gelu, approximate='none')

    def _prepare(self) -> None:
        _check(self.approximate)


def _check(approximate: str) -> None:
    if approximate not in ('none', 'tanh'):
        raise ValueError(f"gelu: approximate is {approximate!r}, expected 'none' or 'tanh'")


def gelu(x: VariableLike, approximate: str = 'none') -> variable.Variable:
    """``x * N(x)``, elementwise, with the distribution function N of normal numbers.

    Args:
        x (Variable or array): Any shape, any float dtype.
        approximate (str): 'none', or 'tanh' for
            ``x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))) / 2``.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
        ValueError: If there is no such approximation.

    Source: Hendrycks and Gimpel, arXiv:1606.08415, 2016.
    """
    _check(approximate)
    return GELU.call(x, approximate=approximate)
