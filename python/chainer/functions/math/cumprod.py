"""Products up to each element."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.declaration import routine
from chainer.functions.math._reduction import Scan, to_axis

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Cumprod(Scan):
    """See `cumprod`."""

    compose = routine(chainerx.cumprod, axis=...)


def cumprod(x: VariableLike, axis: int | None = None) -> variable.Variable:
    """The products of the elements up to and with each, along an axis.

    Args:
        x (Variable or array): Any shape, any float dtype.
        axis (int): None stands for all elements in C order; the result is 1-d then.

    Returns:
        Variable: Shape and dtype of ``x``, or 1-d. Differentiable, any order.

    Raises:
        InvalidType: If the dtype is not a float, or the axis does not exist.
        TypeError: If ``axis`` is no int.
    """
    return Cumprod.call(x, axis=to_axis('cumprod', axis))
