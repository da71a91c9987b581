"""Vectors of length 1."""

from __future__ import annotations

import operator
import typing as tp

import chainerx
import numpy as np

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer._graph.gradients import recomputed
from chainer.functions._precision import widened
from chainer.functions.math._reduction import expect_axis, to_axes
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import Axis, InTypes, VariableLike


def _compute(x: chainerx.ndarray, eps: float, axis: tuple[int, ...] | None) -> chainerx.ndarray:
    # Squares soon leave the range of float16.
    wide = widened(x)
    squared = chainerx.square(wide).sum(axis, keepdims=True)
    # The root has no derivative at 0, where its gradient is taken for 0.
    some = squared != 0  # also where it is NaN, which is passed on
    norm = chainerx.where(some, chainerx.sqrt(chainerx.where(some, squared, 1)), 0)
    return (wide / (norm + eps)).astype(x.dtype)


class NormalizeL2(BuiltinFunction):
    """See `normalize`; ``axis`` is a tuple, or None."""

    axis: tuple[int, ...] | None

    def _prepare(self) -> None:
        self.axis = to_axes('normalize', self.axis)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        (x,) = in_types
        type_check.expect(x.dtype.kind == 'f')
        for axis in self.axis or ():
            expect_axis(axis, x)

    compose = routine(recomputed('normalize', _compute, n_params=2), eps=1e-5, axis=1)


def normalize(x: VariableLike, eps: float = 1e-5, axis: Axis | None = 1) -> variable.Variable:
    """Divides vectors by their Euclidean norm, plus ``eps``.

    Args:
        x (Variable or array): Any shape with these axes, any float dtype.
        eps (float): Keeps vectors of zeros unchanged.
        axis (int, tuple of int or None): The axes that make up a vector; None for all axes.

    Returns:
        Variable: ``x / (norm(x) + eps)``, shape and dtype of ``x``. Differentiable, any order; at 0
        the gradient of the norm is taken for 0.

    Raises:
        InvalidType: If there is no such axis, or the dtype is no float.
        TypeError: If ``axis`` is something else.
        ValueError: If it names one axis twice.
    """
    if isinstance(axis, np.ndarray | np.integer):
        axis = operator.index(axis)
    elif isinstance(axis, tuple):
        axis = tuple(int(a) if isinstance(a, np.integer) else a for a in axis)
    return NormalizeL2.call(x, eps=eps, axis=to_axes('normalize', axis))
