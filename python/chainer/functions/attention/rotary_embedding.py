"""Rotary position embedding."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class RotaryEmbedding(BuiltinFunction):
    """See `rotary_embedding`."""

    check_uses_attributes = False

    def check_type_forward(self, in_types: InTypes) -> None:
        n_in = type_check.eval(in_types.size())
        type_check._argname(in_types, ('x', 'positions')[:n_in])
        x = in_types[0]
        type_check.expect(x.dtype.kind == 'f', x.ndim >= (1 if n_in == 2 else 2))
        type_check.expect(x.shape[-1] % 2 == 0)
        if n_in == 2:
            positions = in_types[1]
            type_check.expect(positions.dtype.kind != 'f', positions.dtype.kind != 'b')
            type_check.expect(positions.ndim < x.ndim)
            for axis in range(-type_check.eval(positions.ndim), 0):
                if type_check.eval(positions.shape[axis]) != 1:
                    type_check.expect(positions.shape[axis] == x.shape[axis - 1])

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        positions: chainerx.ndarray | None = None,
        *,
        base: float = 10000.0,
        interleaved: bool = False,
        offset: int = 0,
    ) -> chainerx.ndarray:
        return chainerx.rotary_embedding(x, positions, base, interleaved, offset)


def rotary_embedding(
    x: VariableLike,
    positions: VariableLike | None = None,
    base: float = 10000.0,
    interleaved: bool = False,
    offset: int = 0,
) -> variable.Variable:
    """Turns pairs of numbers by angles that grow with the position.

    Pair ``i`` of a row, ``(a, b)``, becomes ``(a cos t - b sin t, b cos t + a sin t)`` with
    ``t = (position + offset) * base ** (-2 * i / depth)``. So a product of two rows depends on the
    distance of their positions alone.

    Args:
        x (Variable or array): Shape (..., length, depth), any float dtype; depth is even.
        positions (Variable or array): Integers that broadcast to (..., length). None is 0, 1, 2,
            ... along the axis before the last.
        base (float): Positive; the longest period is about ``2 * pi * base``.
        interleaved (bool): Pairs are ``(x[2 * i], x[2 * i + 1])``; else, as most models have them,
            ``(x[i], x[i + depth / 2])``.
        offset (int): Added to positions, for rows that follow ``offset`` earlier ones.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable in ``x``, any order: the gradient is
        turned back.

    Raises:
        InvalidType: If shapes or dtypes do not fit.
        ValueError: If ``base`` is not positive.

    Source: Su et al., RoFormer, arXiv:2104.09864, 2021.
    """
    return RotaryEmbedding.call(x, positions, base=base, interleaved=interleaved, offset=offset)
