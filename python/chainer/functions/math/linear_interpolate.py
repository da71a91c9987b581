"""Points between two others."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class LinearInterpolate(BuiltinFunction):
    """See `linear_interpolate`."""

    is_elementwise = True

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('p', 'x', 'y'))
        p, x, y = in_types
        type_check.expect(
            p.dtype.kind == 'f',
            x.dtype == p.dtype,
            y.dtype == p.dtype,
            p.shape == x.shape,
            p.shape == y.shape,
        )

    @staticmethod
    def compose(p: chainerx.ndarray, x: chainerx.ndarray, y: chainerx.ndarray) -> chainerx.ndarray:
        # Exact where p is 0 or 1, and backward needs no array but these three.
        return p * x + (y - p * y)


def linear_interpolate(p: VariableLike, x: VariableLike, y: VariableLike) -> variable.Variable:
    """``p * x + (1 - p) * y``, elementwise.

    Args:
        p, x, y (Variable or array): One shape and one float dtype.

    Returns:
        Variable: Their shape and dtype. Differentiable in all, any order.

    Raises:
        InvalidType: If shapes or dtypes differ, or the dtype is not a float.
    """
    return LinearInterpolate.call(p, x, y)
