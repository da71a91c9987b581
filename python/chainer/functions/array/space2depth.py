"""Height and width of images moved into channels."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.array.depth2space import check_block
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Space2Depth(BuiltinFunction):
    """See `space2depth`."""

    def _prepare(self) -> None:
        check_block('space2depth', self.r)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        (x,) = in_types
        type_check.expect(x.dtype.kind == 'f', x.ndim == 4)
        r = type_check.make_variable(self.r, 'r')
        type_check.expect(x.shape[2] % r == 0, x.shape[3] % r == 0)

    @staticmethod
    def compose(x: chainerx.ndarray, *, r: int) -> chainerx.ndarray:
        n, c, h, w = x.shape
        blocks = x.reshape(n, c, h // r, r, w // r, r).transpose(0, 3, 5, 1, 2, 4)
        return blocks.reshape(n, r * r * c, h // r, w // r)


def space2depth(X: VariableLike, r: int) -> variable.Variable:
    """Moves blocks of ``r`` by ``r`` pixels into channels; the inverse of `depth2space`.

    Args:
        X (Variable or array): (N, C, r * H, r * W), a float dtype.
        r (int): The side of a block; positive.

    Returns:
        Variable: (N, r * r * C, H, W). Differentiable, any order.

    Raises:
        InvalidType: If ``X`` is no such array.
        ValueError: If ``r`` is not positive.
        TypeError: If ``r`` is no integer.
    """
    check_block('space2depth', r)
    return Space2Depth.call(X, r=r)
