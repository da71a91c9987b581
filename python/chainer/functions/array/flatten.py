"""Arrays with one axis."""

from __future__ import annotations

import typing as tp

from chainer import variable
from chainer.functions.array.reshape import reshape

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


def flatten(x: VariableLike) -> variable.Variable:
    """The elements of an array along one axis, in C order.

    Args:
        x (Variable or array): Any shape and dtype.

    Returns:
        Variable: (size of ``x``,), the dtype of ``x``: ``x`` itself if it has one axis; else a view
        where strides allow it. Differentiable, any order.

    Raises:
        TypeError: If ``x`` is no array.
    """
    x = variable.as_variable(x)
    return reshape(x, (x.size,))
