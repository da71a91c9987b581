"""Logarithms of normalized exponentials."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer._graph.declaration import routine
from chainer.functions._of_arrays import log_softmax as _log_softmax  # noqa: F401  (for libraries)
from chainer.functions.activation._unary import AlongAxis
from chainer.functions.activation.softmax import softmax

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class LogSoftmax(AlongAxis):
    """See `log_softmax`."""

    compose = routine(chainerx.log_softmax, axis=1)


@documented_like(softmax)
def log_softmax(x: VariableLike, axis: int | tuple[int, ...] = 1) -> variable.Variable:
    """The logarithm of `softmax`, ``x - log(sum(exp(x)))`` along an axis.

    Note:
        No overflow or underflow: the greatest element is subtracted first.
    """
    return LogSoftmax.call(x, axis=axis)
