"""Batch normalization that takes away the correlation of channels, too."""

from __future__ import annotations

import math
import typing as tp

import chainerx
from chainerx._core import functional

from chainer import configuration, variable
from chainer._graph import builtin
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer._graph.gradients import recomputed
from chainer.functions._precision import widened
from chainer.functions.normalization import _channels
from chainer.functions.normalization._matrix_root import inverse_root
from chainer.utils import argument, type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InType, InTypes, VariableLike


def _to_groups(x: chainerx.ndarray, groups: int) -> chainerx.ndarray:
    """(n, channels, ...) as (groups, channels / groups, m)."""
    order = (1, 0, *range(2, x.ndim))
    m = x.shape[0] * math.prod(x.shape[2:])
    return x.transpose(order).reshape(groups, x.shape[1] // groups, m)


def _from_groups(y: chainerx.ndarray, shape: tuple[int, ...]) -> chainerx.ndarray:
    order = (1, 0, *range(2, len(shape)))
    return y.reshape(shape[1], shape[0], *shape[2:]).transpose(order)


def _check_groups(op: str, groups: int) -> None:
    if groups < 1:
        raise ValueError(f'{op}: groups is {groups}, expected at least 1')


def _expect_groups(x: InType, groups: int) -> None:
    type_check.expect(x.dtype.kind == 'f', x.ndim >= 2)
    type_check.expect(x.shape[1] % groups == 0)


class DecorrelatedBatchNormalization(BuiltinFunction):
    """See `decorrelated_batch_normalization`."""

    groups: int

    writes = ('running_mean', 'running_projection')
    argument_names: tp.ClassVar[dict[str, str]] = {
        'running_mean': 'mean',
        'running_projection': 'projection',
    }
    # Inputs that have passed the check with other groups are checked again.
    check_uses_attributes = False

    def _prepare(self) -> None:
        _check_groups('decorrelated_batch_normalization', self.groups)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        _expect_groups(in_types[0], self.groups)

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        *,
        groups: int = 16,
        eps: float = 2e-5,
        running_mean: VariableLike | None = None,
        running_projection: VariableLike | None = None,
        decay: float = 0.9,
    ) -> chainerx.ndarray:
        if x.shape[1] % groups:
            attributes = (groups, eps, running_mean, running_projection, decay)
            builtin.check_types(DecorrelatedBatchNormalization, attributes, (x,))
        if x.size == 0:
            return x.copy()
        z = _to_groups(widened(x), groups)
        m = z.shape[2]
        mean = z.mean(2, keepdims=True)
        centered = z - mean
        projections: list[tp.Any] = []
        y = _decorrelated(centered, eps, projections)
        _move(running_mean, 'running_mean', decay, mean[:, :, 0])
        projection = projections[0] * (m / max(m - 1, 1))
        projections[0] = None  # the list is kept for backward
        _move(running_projection, 'running_projection', decay, projection)
        return _from_groups(y, x.shape).astype(x.dtype)


def _decorrelate(
    centered: chainerx.ndarray, eps: float, projections: list[tp.Any]
) -> chainerx.ndarray:
    """Whitens groups, so that their covariance is the identity; appends the projection once."""
    # The computation runs in float64, because the gradient has products of four roots: with fewer
    # elements than channels they are as large as eps ** -2, and their differences are as small as
    # x.
    covariance = (centered @ centered.transpose(0, 2, 1) / centered.shape[2]).astype('float64')
    identity = chainerx.eye(centered.shape[1], dtype='float64', device=centered.device)
    projection = inverse_root(covariance + eps * identity)
    if not projections:
        projections.append(projection.as_grad_stopped())
    return projection.astype(centered.dtype) @ centered


# Keeps no matrices of float64: backward computes them again.
_decorrelated = recomputed('decorrelate', _decorrelate, n_params=2)


def _move(array: VariableLike | None, name: str, decay: float, statistic: chainerx.ndarray) -> None:
    op = 'decorrelated_batch_normalization'
    running = _channels.running(op, name, array)
    if running is None:
        return
    if running.shape != statistic.shape:
        raise ValueError(f'{op}: {name}.shape is {running.shape}, expected {statistic.shape}')
    if not functional.moves(running):
        return
    old = running.astype(statistic.dtype)
    running[...] = (old * decay + (1 - decay) * statistic.as_grad_stopped()).astype(running.dtype)


def _project(
    x: chainerx.ndarray, mean: chainerx.ndarray, projection: chainerx.ndarray, groups: int
) -> chainerx.ndarray:
    if x.size == 0:
        return x.copy()
    z = _to_groups(widened(x), groups)
    y = projection.astype(z.dtype) @ (z - mean.astype(z.dtype)[:, :, None])
    return _from_groups(y, x.shape).astype(x.dtype)


class FixedDecorrelatedBatchNormalization(BuiltinFunction):
    """See `fixed_decorrelated_batch_normalization`."""

    groups: int

    check_uses_attributes = True

    def _prepare(self) -> None:
        _check_groups('fixed_decorrelated_batch_normalization', self.groups)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 'mean', 'projection'))
        x, mean, projection = in_types
        _expect_groups(x, self.groups)
        type_check.expect(
            mean.dtype.kind == 'f',
            projection.dtype.kind == 'f',
            mean.ndim == 2,
            projection.ndim == 3,
        )
        type_check.expect(
            mean.shape[0] == self.groups,
            mean.shape[1] == x.shape[1] // self.groups,
            projection.shape[0] == self.groups,
            projection.shape[1] == mean.shape[1],
            projection.shape[2] == mean.shape[1],
        )

    compose = routine(
        recomputed('fixed_decorrelated_batch_normalization', _project, n_params=1), groups=...
    )


def decorrelated_batch_normalization(
    x: VariableLike,
    *,
    groups: int = 16,
    eps: float = 2e-5,
    running_mean: VariableLike | None = None,
    running_projection: VariableLike | None = None,
    decay: float = 0.9,
    **kwargs: object,
) -> variable.Variable:
    """Whitens the channels of each group: their covariance over the batch becomes the identity.

    Args:
        x (Variable or array): (n, channels, ...), any float dtype.
        groups (int): A divisor of the number of channels.
        eps (float): Added to variances.
        running_mean (array): (groups, channels / groups). Is written to: it becomes
            ``decay * running_mean + (1 - decay) * mean``.
        running_projection (array): (groups, channels / groups, channels / groups). The same with
            the projection, times ``m / (m - 1)`` for ``m`` elements of a channel.
        decay (float): How much of the running statistics stays.
        **kwargs: None; a TypeError names the function.

    Returns:
        Variable: ``projection @ (x - mean)`` for each group, where the projection is the inverse
        square root of the covariance. Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``groups`` does not divide the channels, or the dtype is no float.
        TypeError: If there is another argument.
        ValueError: If running statistics do not fit, or can't be written to; if ``groups`` is not
            positive.

    Note:
        Matrices are decomposed on the host, in float64. An empty batch leaves the running
        statistics as they are.
    Source: Huang et al., Decorrelated Batch Normalization, CVPR 2018.
    """
    argument.assert_kwargs_empty(kwargs)
    _check_groups('decorrelated_batch_normalization', groups)
    return DecorrelatedBatchNormalization.call(
        x,
        groups=groups,
        eps=eps,
        running_mean=running_mean,
        running_projection=running_projection,
        decay=decay,
    )


def fixed_decorrelated_batch_normalization(
    x: VariableLike, mean: VariableLike, projection: VariableLike, groups: int = 16
) -> variable.Variable:
    """Whitens channels with statistics that are given.

    Args:
        x (Variable or array): (n, channels, ...), any float dtype.
        mean (Variable or array): (groups, channels / groups), any float dtype.
        projection (Variable or array): (groups, channels / groups, channels / groups), likewise.
        groups (int): A divisor of the number of channels.

    Returns:
        Variable: ``projection @ (x - mean)`` for each group. Shape and dtype of ``x``.
        Differentiable in all of them, any order.

    Raises:
        InvalidType: If shapes or dtypes do not fit.
        ValueError: If ``groups`` is not positive.
    """
    _check_groups('fixed_decorrelated_batch_normalization', groups)
    if configuration.config.enable_backprop:
        # Training updates running statistics in place, possibly before this backward runs.
        mean, projection = (
            a if isinstance(a, variable.Variable) else a.copy() for a in (mean, projection)
        )
    return FixedDecorrelatedBatchNormalization.call(x, mean, projection, groups=groups)
