"""Batch normalization."""

from __future__ import annotations

import typing as tp
import warnings

import chainerx
from chainerx._core import _batch_norm

from chainer import variable
from chainer._graph import builtin
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.normalization import _channels
from chainer.utils import argument, type_check

if tp.TYPE_CHECKING:
    from chainer._typing import Axis, InTypes, NdArray, VariableLike


class _ChannelFunction(BuiltinFunction):
    """Declares the axes, for both functions."""

    axis: tuple[int, ...] | None

    # The routine itself checks arrays whose shapes have passed with other axes.
    check_uses_attributes = False

    def _prepare(self) -> None:
        self.axis = _channels.to_axes(type(self).__name__, self.axis)

    def _ndims(self) -> tuple[int, int]:
        x, gamma = tp.cast(tuple, self.inputs)[:2]
        return len(x.shape), len(gamma.shape)

    @property
    def key_axis(self) -> tuple[int, ...]:
        """The axes of the channels."""
        ndim, gamma_ndim = self._ndims()
        axis = _channels.default_axes(ndim, gamma_ndim) if self.axis is None else self.axis
        return tuple(i for i in range(ndim) if i not in axis)

    @property
    def expander(self) -> tuple[slice | None, ...]:
        """The index by which ``gamma`` broadcasts to the input."""
        kept = self.key_axis
        return tuple(slice(None) if i in kept else None for i in range(self._ndims()[0]))


class BatchNormalization(_ChannelFunction):
    """See `batch_normalization`.

    Attributes:
        mean: Of the input, over ``axis``.
        inv_std: ``1 / sqrt(var + eps)``.
    """

    writes = ('running_mean', 'running_var')
    saved = ('mean', 'inv_std')
    argument_names: tp.ClassVar[dict[str, str]] = {'running_mean': 'mean', 'running_var': 'var'}

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 'gamma', 'beta'))
        x, *params = in_types
        _channels.expect_channels(self.axis, x, params)

    @property
    def var(self) -> NdArray:
        """The variance of the input, over ``axis``."""
        return 1 / (self.inv_std * self.inv_std) - self.eps

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        gamma: chainerx.ndarray,
        beta: chainerx.ndarray,
        *,
        eps: float = 2e-5,
        running_mean: VariableLike | None = None,
        running_var: VariableLike | None = None,
        decay: float = 0.9,
        axis: tuple[int, ...] | None = None,
    ) -> tuple[chainerx.ndarray, chainerx.ndarray, chainerx.ndarray]:
        op = 'batch_normalization'
        if axis is None:
            axis = _channels.default_axes(x.ndim, gamma.ndim)
        try:
            return _batch_norm(
                x,
                gamma,
                beta,
                _channels.running(op, 'running_mean', running_mean),
                _channels.running(op, 'running_var', running_var),
                eps,
                decay,
                axis,
            )
        except chainerx.DimensionError:
            attributes = (eps, running_mean, running_var, decay, axis)
            builtin.check_types(BatchNormalization, attributes, (x, gamma, beta))
            raise


class FixedBatchNormalization(_ChannelFunction):
    """See `fixed_batch_normalization`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 'gamma', 'beta', 'mean', 'var'))
        x, *params = in_types
        _channels.expect_channels(self.axis, x, params)

    @property
    def inv_var(self) -> NdArray | None:
        """``1 / (var + eps)``, while the variance is there."""
        node = tp.cast(tuple, self.inputs)[4]
        return None if node.data is None else 1 / (node.data + self.eps)

    @property
    def inv_std(self) -> NdArray | None:
        """``1 / sqrt(var + eps)``, while the variance is there."""
        inv_var = self.inv_var
        return None if inv_var is None else inv_var**0.5

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        gamma: chainerx.ndarray,
        beta: chainerx.ndarray,
        mean: chainerx.ndarray,
        var: chainerx.ndarray,
        *,
        eps: float = 2e-5,
        axis: tuple[int, ...] | None = None,
    ) -> chainerx.ndarray:
        if axis is None:
            axis = _channels.default_axes(x.ndim, gamma.ndim)
        try:
            return chainerx.fixed_batch_norm(x, gamma, beta, mean, var, eps, axis)
        except chainerx.DimensionError:
            builtin.check_types(FixedBatchNormalization, (eps, axis), (x, gamma, beta, mean, var))
            raise


def batch_normalization(
    x: VariableLike,
    gamma: VariableLike,
    beta: VariableLike,
    *,
    eps: float = 2e-5,
    running_mean: VariableLike | None = None,
    running_var: VariableLike | None = None,
    decay: float = 0.9,
    axis: Axis | None = None,
    **removed: object,
) -> variable.Variable:
    """Normalizes with the mean and the variance of the batch.

    Args:
        x (Variable or array): Any shape, any float dtype.
        gamma (Variable or array): Scale, of the shape of ``x`` without ``axis``; any float dtype,
            which the arrays that follow have, too.
        beta (Variable or array): Shift, likewise.
        eps (float): Added to the variance; not negative.
        running_mean (array): Is written to: it becomes
            ``decay * running_mean + (1 - decay) * mean``.
        running_var (array): The same with the unbiased variance.
        decay (float): How much of the running statistics stays.
        axis (int or tuple of int): The axes of the statistics, in ascending order; None for the
            first axis, and those behind the axes of ``gamma``.

    Returns:
        Variable: ``(x - mean) / sqrt(var + eps) * gamma + beta``, shape and dtype of ``x``.
        Differentiable in ``x``, ``gamma`` and ``beta``, any order.

    Raises:
        InvalidType: If shapes or dtypes do not fit.
        RuntimeError: If ``axis`` is something else, or not sorted.
        TypeError: If there is another argument.
        ValueError: If running statistics can't be written to; if ``eps`` is negative.

    Note:
        Where a channel has a single element, there is a warning. An empty batch leaves the running
        statistics as they are.
    Source: Ioffe and Szegedy, ICML 2015.
    """
    if removed:
        argument.check_unexpected_kwargs(
            removed, train='train argument is not supported anymore. Use chainer.using_config'
        )
        argument.assert_kwargs_empty(removed)
    axis = _channels.to_axes('batch_normalization', axis)
    if axis is None:
        axis = _channels.default_axes(x.ndim, gamma.ndim)
    y = BatchNormalization.call(
        x,
        gamma,
        beta,
        eps=eps,
        running_mean=running_mean,
        running_var=running_var,
        decay=decay,
        axis=axis,
    )
    if x.size == gamma.size != 0:
        warnings.warn(
            f'batch_normalization: x.shape is {x.shape}, one element for each mean, so that the '
            'result is beta throughout. Is this an evaluation with chainer.config.train on, or the '
            'last batch of an iterator that does not repeat?',
            stacklevel=2,
        )
    return y


def fixed_batch_normalization(
    x: VariableLike,
    gamma: VariableLike,
    beta: VariableLike,
    mean: VariableLike,
    var: VariableLike,
    eps: float = 2e-5,
    axis: Axis | None = None,
) -> variable.Variable:
    """Normalizes with statistics that are given.

    Args:
        x (Variable or array): Any shape, any float dtype.
        gamma (Variable or array): Scale, of the shape of ``x`` without ``axis``; any float dtype,
            which the arrays that follow have, too.
        beta (Variable or array): Shift, likewise.
        mean (Variable or array): Likewise.
        var (Variable or array): Likewise.
        eps (float): Added to the variance; not negative.
        axis (int or tuple of int): The axes that the statistics lack, in ascending order; None for
            the first axis, and those behind the axes of ``gamma``.

    Returns:
        Variable: ``(x - mean) / sqrt(var + eps) * gamma + beta``, shape and dtype of ``x``.
        Differentiable in all of them, any order.

    Raises:
        InvalidType: If shapes or dtypes do not fit.
        RuntimeError: If ``axis`` is something else, or not sorted.
        ValueError: If ``eps`` is negative.
    """
    axis = _channels.to_axes('fixed_batch_normalization', axis)
    if axis is None:
        axis = _channels.default_axes(x.ndim, gamma.ndim)
    return FixedBatchNormalization.call(x, gamma, beta, mean, var, eps=eps, axis=axis)
