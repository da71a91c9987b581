"""Bias along axes."""

from __future__ import annotations

import typing as tp

from chainer import variable
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.reshape import reshape

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


def bias(x: VariableLike, y: VariableLike, axis: int = 1) -> variable.Variable:
    """``x`` plus ``y``, whose first axis is put beside the axis ``axis`` of ``x``.

    Args:
        x (Variable or array): Any dtype.
        y (Variable or array): Of shape ``x.shape[axis : axis + y.ndim]`` and of the dtype of ``x``.
        axis (int): Not negative.

    Returns:
        Variable: Shape of ``x``. Differentiable in both, any order.

    Raises:
        InvalidType: If shapes or dtypes do not fit.
        ValueError: If ``axis`` is negative, or ``y`` has too many axes.
    """
    return tp.cast(variable.Variable, x + broadcast_to(align('bias', x, y, axis), x.shape))


def align(op: str, x: VariableLike, y: VariableLike, axis: int) -> variable.Variable:
    """``y`` with axes of length 1, so that it broadcasts to the shape of ``x``."""
    after = x.ndim - axis - y.ndim
    if axis < 0 or after < 0:
        raise ValueError(
            f'{op}: y of shape {y.shape} from axis {axis} does not fit into x of shape {x.shape}'
        )
    return reshape(y, (1,) * axis + y.shape + (1,) * after)
