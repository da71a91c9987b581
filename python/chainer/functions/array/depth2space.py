"""Channels moved into the height and width of images."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Depth2Space(BuiltinFunction):
    """See `depth2space`."""

    def _prepare(self) -> None:
        check_block('depth2space', self.r)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        (x,) = in_types
        type_check.expect(x.dtype.kind == 'f', x.ndim == 4)
        type_check.expect(x.shape[1] % type_check.make_variable(self.r**2, 'r ** 2') == 0)

    @staticmethod
    def compose(x: chainerx.ndarray, *, r: int) -> chainerx.ndarray:
        n, c, h, w = x.shape
        c //= r * r
        blocks = x.reshape(n, r, r, c, h, w).transpose(0, 3, 4, 1, 5, 2)
        return blocks.reshape(n, c, h * r, w * r)


def check_block(op: str, r: int) -> None:
    """Refuses an invalid side length of a block."""
    if not isinstance(r, int | np.integer):
        raise TypeError(f'{op}: r is {r!r}, expected an int')
    if r <= 0:
        raise ValueError(f'{op}: r is {r}, expected a positive number')


def depth2space(X: VariableLike, r: int) -> variable.Variable:
    """Moves channels into space: each becomes one pixel of a block of ``r`` by ``r``.

    Channel ``(i * r + j) * C + c`` goes to row ``i`` and column ``j`` of the blocks of channel
    ``c``. The inverse of `space2depth`.

    Args:
        X (Variable or array): (N, r * r * C, H, W), a float dtype.
        r (int): The side of a block; positive.

    Returns:
        Variable: (N, C, r * H, r * W). Differentiable, any order.

    Raises:
        InvalidType: If ``X`` is no such array.
        ValueError: If ``r`` is not positive.
        TypeError: If ``r`` is no integer.

    Source: Shi et al., CVPR 2016.
    """
    check_block('depth2space', r)
    return Depth2Space.call(X, r=r)
