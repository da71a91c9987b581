"""The logarithm of a sum of exponentials."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.declaration import routine
from chainer.functions.math._reduction import Reduction, to_axes

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class LogSumExp(Reduction):
    """See `logsumexp`."""

    compose = routine(chainerx.logsumexp, axis=None)


def logsumexp(x: VariableLike, axis: int | tuple[int, ...] | None = None) -> variable.Variable:
    """``log(sum(exp(x)))`` along axes, without overflow.

    Args:
        x (Variable or array): Any shape, any float dtype.
        axis (int or tuple of int): The axes to sum along; None stands for all.

    Returns:
        Variable: The shape of ``x`` without the axes, its dtype. Differentiable, any order.

    Raises:
        InvalidType: If the dtype is not a float, or an axis does not exist.
        ValueError: If an axis is given twice.
        TypeError: If ``axis`` is neither an int nor a tuple of them.
    """
    return LogSumExp.call(x, axis=to_axes('logsumexp', axis))
