"""Scale along axes."""

from __future__ import annotations

import typing as tp

from chainer import variable
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.math.bias import align

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


def scale(x: VariableLike, y: VariableLike, axis: int = 1) -> variable.Variable:
    """``x`` times ``y``, whose first axis is put beside the axis ``axis`` of ``x``.

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
    return tp.cast(variable.Variable, x * broadcast_to(align('scale', x, y, axis), x.shape))
