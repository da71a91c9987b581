"""Limits."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.declaration import routine
from chainer.functions._elementwise import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, VariableLike


class Clip(FloatUnary):
    """See `clip`."""

    check_uses_attributes = False
    compose = routine(chainerx.clip, x_min=..., x_max=...)

    x_min: float | None
    x_max: float | None

    def _prepare(self) -> None:
        self.x_min, self.x_max = _number(self.x_min), _number(self.x_max)
        _check_limits(self.x_min, self.x_max)


def _number(limit: tp.Any) -> float | None:
    """Return the limit as a number, also if it is an array of one element."""
    return limit.item() if hasattr(limit, 'item') else limit


def _check_limits(x_min: float | None, x_max: float | None) -> None:
    if x_min is None and x_max is None:
        raise ValueError('clip: x_min and x_max are both None, expected a number')
    if x_min is not None and x_max is not None and x_min > x_max:
        raise ValueError(f'clip: x_min is {x_min}, expected at most x_max, {x_max}')


def clip(
    x: VariableLike, x_min: float | NdArray | None, x_max: float | NdArray | None
) -> variable.Variable:
    """Elements below ``x_min`` and above ``x_max`` become these.

    Args:
        x (Variable or array): Any shape, any float dtype.
        x_min, x_max (float or array of one element): The limits; None for no limit on one side.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order: the gradient is that of the
        output from limit to limit, and 0 outside.

    Raises:
        InvalidType: If the dtype is not a float.
        ValueError: If there is no limit, or ``x_min`` is above ``x_max``.
    """
    x_min, x_max = _number(x_min), _number(x_max)
    _check_limits(x_min, x_max)
    return Clip.call(x, x_min=x_min, x_max=x_max)
