"""Products along axes."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.declaration import routine
from chainer.functions.math._reduction import Reduction, to_axes

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Prod(Reduction):
    """See `prod`."""

    compose = routine(chainerx.prod, axis=None, keepdims=False)


def prod(
    x: VariableLike, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> variable.Variable:
    """The product along axes.

    Args:
        x (Variable or array): Any shape, any float dtype.
        axis (int or tuple of int): The axes to multiply along; None stands for all.
        keepdims (bool): Whether these stay, with length 1.

    Returns:
        Variable: The shape of ``x`` without the axes, its dtype. Differentiable, any order, where
        elements are 0, too.

    Raises:
        InvalidType: If the dtype is not a float, or an axis does not exist.
        ValueError: If an axis is given twice.
        TypeError: If ``axis`` is neither an int nor a tuple of them.
    """
    return Prod.call(x, axis=to_axes('prod', axis), keepdims=keepdims)
