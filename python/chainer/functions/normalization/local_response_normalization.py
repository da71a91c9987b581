"""Normalization by the activity of channels nearby."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class LocalResponseNormalization(BuiltinFunction):
    """See `local_response_normalization`."""

    check_uses_attributes = False
    compose = routine(chainerx.local_response_normalization, n=5, k=2, alpha=1e-4, beta=0.75)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        (x,) = in_types
        type_check.expect(x.dtype.kind == 'f', x.ndim >= 2)


def local_response_normalization(
    x: VariableLike, n: int = 5, k: float = 2, alpha: float = 1e-4, beta: float = 0.75
) -> variable.Variable:
    """Divides by the activity of channels nearby: ``x / (k + alpha * sum(x ** 2)) ** beta``.

    Args:
        x (Variable or array): (n, channels, ...), any float dtype.
        n (int): Width of the window of channels: the sum runs over ``n // 2`` before each, itself,
            and ``n // 2`` behind it.
        k (float): Offset.
        alpha (float): Factor of the sum.
        beta (float): Exponent.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` has fewer than 2 axes, or no float dtype.
        TypeError: If ``n`` is no int.
        ValueError: If it is negative.
    Source: Krizhevsky et al., NIPS 2012.
    """
    return LocalResponseNormalization.call(x, n=n, k=k, alpha=alpha, beta=beta)
