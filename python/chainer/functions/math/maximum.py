"""The larger of two."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._elementwise import FloatBinary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Maximum(FloatBinary):
    """See `maximum`."""

    compose = staticmethod(chainerx.maximum)


def maximum(x1: VariableLike, x2: VariableLike) -> variable.Variable:
    """The larger of two elements, with broadcasting; NaN if one is NaN.

    Args:
        x1, x2 (Variable or array): Any shapes that broadcast, one float dtype.

    Returns:
        Variable: The common shape, their dtype. Differentiable in both, any order; equal elements
        share the gradient.

    Raises:
        InvalidType: If dtypes differ or are not floats, or shapes do not broadcast.
    """
    return Maximum.call(x1, x2)
