"""The contrastive loss of pairs."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import engine

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.functions._precision import narrowed, widened
from chainer.functions.loss._reduction import check_reduce, mean
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


def _compute(
    x0: chainerx.ndarray,
    x1: chainerx.ndarray,
    y: chainerx.ndarray,
    margin: float,
    reduce: str,
) -> chainerx.ndarray:
    squared = chainerx.squared_error(widened(x0), widened(x1)).sum(axis=1)
    rest = chainerx.square(chainerx.relu(margin - chainerx.sqrt(squared)))
    losses = chainerx.where(y == 1, squared, rest) * 0.5
    return narrowed(losses if reduce == 'no' else mean(losses, max(len(y), 1)), x0, x1)


def _gradient(
    gy: chainerx.ndarray,
    needed: tuple[bool, ...],
    inputs: tuple[chainerx.ndarray, ...],
    _: None,
    margin: float,
    reduce: str,
) -> tuple[chainerx.ndarray | None, ...]:
    x0, x1, y = inputs
    difference, gy = widened(x0) - widened(x1), widened(gy)
    squared = chainerx.square(difference).sum(axis=1)
    # The distance has no derivative at 0, where it is taken for 0.
    apart = squared != 0
    distance = chainerx.sqrt(chainerx.where(apart, squared, 1))
    pushed = chainerx.where(apart, -chainerx.relu(margin - distance) / distance, 0)
    if reduce == 'mean':
        gy = gy / max(len(y), 1)
    gx = difference * chainerx.expand_dims(gy * chainerx.where(y == 1, 1, pushed), 1)
    return narrowed(gx, x0), narrowed(-gx, x1) if needed[1] else None, None


class Contrastive(BuiltinFunction):
    """See `contrastive`."""

    check_uses_attributes = False

    def _prepare(self) -> None:
        check_margin('contrastive', self.margin)
        check_reduce('contrastive', self.reduce)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x0', 'x1', 'y'))
        x0, x1, y = in_types
        type_check.expect(
            x0.dtype.kind == 'f',
            x0.dtype == x1.dtype,
            y.dtype.kind == 'i',
            x0.shape == x1.shape,
            x1.ndim == 2,
            y.ndim == 1,
            x1.shape[0] == y.shape[0],
        )

    compose = routine(
        engine.WithGradient('contrastive', _compute, _gradient, n_params=2),
        margin=...,
        reduce='mean',
    )


def check_margin(op: str, margin: float) -> None:
    """Refuses a margin that is not positive."""
    if margin <= 0:
        raise ValueError(f'{op}: margin is {margin}, expected a positive number')


def contrastive(
    x0: VariableLike, x1: VariableLike, y: VariableLike, margin: float = 1, reduce: str = 'mean'
) -> variable.Variable:
    """The contrastive loss: pulls pairs of one class together, pushes others apart.

    With the distance ``d`` of a pair it is ``d ** 2 / 2`` for those of one class, and
    ``max(0, margin - d) ** 2 / 2`` for others.

    Args:
        x0 (Variable or array): (rows, features), a float dtype.
        x1 (Variable or array): Same shape and dtype.
        y (Variable or array): (rows,), integers: 1 for a pair of one class, 0 for others.
        margin (float): See above; positive.
        reduce (str): 'mean', or 'no' for the losses themselves.

    Returns:
        Variable: One number, or (rows,). Differentiable in ``x0`` and ``x1``, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: For an unknown ``reduce``, or if ``margin`` is not positive.

    Source: Hadsell et al., CVPR 2006.
    """
    check_margin('contrastive', margin)
    check_reduce('contrastive', reduce)
    return Contrastive.call(x0, x1, y, margin=margin, reduce=reduce)
