"""Extremes along axes, and where they are."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx import _core

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer._graph.declaration import routine
from chainer.functions.math._reduction import Reduction, Scan, to_axes, to_axis

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Max(Reduction):
    """See `max`."""

    compose = routine(_core._max, axis=None, keepdims=False)


class Min(Reduction):
    """See `min`."""

    compose = routine(_core._min, axis=None, keepdims=False)


class ArgMax(Scan):
    """See `argmax`."""

    @staticmethod
    def compose(x: chainerx.ndarray, *, axis: int | None = None) -> chainerx.ndarray:
        return chainerx.argmax(x, axis).astype('int32')


class ArgMin(Scan):
    """See `argmin`."""

    @staticmethod
    def compose(x: chainerx.ndarray, *, axis: int | None = None) -> chainerx.ndarray:
        return chainerx.argmin(x, axis).astype('int32')


def max(
    x: VariableLike, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> variable.Variable:
    """The largest element along axes.

    Args:
        x (Variable or array): Any shape, any float dtype; not empty along the axes.
        axis (int or tuple of int): The axes to search; None stands for all.
        keepdims (bool): Whether these stay, with length 1.

    Returns:
        Variable: The shape of ``x`` without the axes, its dtype. Differentiable, any order: the
        whole gradient flows to each of several largest ones.

    Raises:
        InvalidType: If the dtype is not a float, or an axis does not exist.
        ValueError: If an axis is given twice, or there is no element.
        TypeError: If ``axis`` is neither an int nor a tuple of them.
    """
    return Max.call(x, axis=to_axes('max', axis), keepdims=keepdims)


@documented_like(max)
def min(
    x: VariableLike, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> variable.Variable:
    """The smallest element along axes.

    Returns:
        Variable: The shape of ``x`` without the axes, its dtype. Differentiable, any order: the
        whole gradient flows to each of several smallest ones.
    """
    return Min.call(x, axis=to_axes('min', axis), keepdims=keepdims)


def argmax(x: VariableLike, axis: int | None = None) -> variable.Variable:
    """The index of the (first) largest element along an axis.

    Args:
        x (Variable or array): Any shape, any float dtype; not empty along the axis.
        axis (int): None stands for all elements in C order.

    Returns:
        Variable: The shape of ``x`` without the axis, int32. Not differentiable: no gradient flows
        back.

    Raises:
        InvalidType: If the dtype is not a float, or the axis does not exist.
        ValueError: If there is no element.
        TypeError: If ``axis`` is no int.
    """
    return ArgMax.call(x, axis=to_axis('argmax', axis))


@documented_like(argmax)
def argmin(x: VariableLike, axis: int | None = None) -> variable.Variable:
    """The index of the (first) smallest element along an axis."""
    return ArgMin.call(x, axis=to_axis('argmin', axis))
