"""Sums along axes."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import engine

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.functions.math._reduction import Reduction, to_axes

if tp.TYPE_CHECKING:
    from chainer._typing import Axis, VariableLike


class Sum(Reduction):
    """See `sum`."""

    compose = routine(chainerx.sum, axis=None, keepdims=False)


class SumTo(BuiltinFunction):
    """See `sum_to`."""

    check_uses_attributes = False

    @staticmethod
    def compose(x: chainerx.ndarray, *, shape: tuple[int, ...]) -> chainerx.ndarray:
        lead = x.ndim - len(shape)
        if lead < 0 or any(n not in (1, m) for n, m in zip(shape, x.shape[lead:], strict=True)):
            raise ValueError(f'sum_to: shape {shape} does not broadcast to that of x, {x.shape}')
        axes = [n for n, m in enumerate(shape, lead) if m == 1 and x.shape[n] != 1]
        if axes:
            x = x.sum(tuple(axes), keepdims=True)
        return x.sum(tuple(range(lead))) if lead else x


def sum(
    x: VariableLike, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> variable.Variable:
    """The sum along axes.

    Args:
        x (Variable or array): Any shape, any float dtype.
        axis (int or tuple of int): The axes to sum along; None stands for all.
        keepdims (bool): Whether these stay, with length 1.

    Returns:
        Variable: The shape of ``x`` without the axes, its dtype. Differentiable, any order.

    Raises:
        InvalidType: If the dtype is not a float, or an axis does not exist.
        ValueError: If an axis is given twice.
        TypeError: If ``axis`` is neither an int nor a tuple of them.
    """
    return Sum.call(x, axis=to_axes('sum', axis), keepdims=keepdims)


def sum_to(x: VariableLike, shape: tp.Sequence[int]) -> variable.Variable:
    """The sum along the axes that broadcasting to the shape of ``x`` would make or lengthen.

    Args:
        x (Variable or array): Any shape, any numeric dtype.
        shape (tuple of int): One that broadcasts to that of ``x``.

    Returns:
        Variable: ``x`` itself if it has the shape. Differentiable, any order.

    Raises:
        ValueError: If the shape does not broadcast to that of ``x``.
        TypeError: If ``shape`` is no sequence.
    """
    shape = tuple(shape)
    return variable.as_variable(x) if x.shape == shape else SumTo.call(x, shape=shape)


def _sum_method(
    x: VariableLike, axis: Axis | None = None, keepdims: bool = False, out: None = None
) -> variable.Variable:
    """``x.sum()`` of a variable; `numpy.sum` calls it, with ``out``."""
    if out is not None:
        raise TypeError('sum: out is not supported, a variable is never written to')
    return sum(x, axis, keepdims)


engine.set_method('sum', Sum.call, _sum_method)
