"""Batch renormalization."""

from __future__ import annotations

import typing as tp
import warnings

import chainerx
from chainerx._core import functional

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions._precision import widened
from chainer.functions.normalization import _channels, batch_normalization
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class BatchRenormalizationFunction(BuiltinFunction):
    """See `batch_renormalization`.

    Attributes:
        r: The correction factor of the scale of the batch.
        std: Of the batch, ``sqrt(var + eps)``.
    """

    is_called = True
    writes = ('running_mean', 'running_var')
    saved = ('r', 'std')
    check_uses_attributes = False
    argument_names: tp.ClassVar[dict[str, str]] = {'running_mean': 'mean', 'running_var': 'var'}

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 'gamma', 'beta'))
        x, gamma, beta = in_types
        type_check.expect(
            x.dtype.kind == 'f',
            gamma.dtype.kind == 'f',
            beta.dtype == gamma.dtype,
            beta.shape == gamma.shape,
            x.ndim > gamma.ndim,
        )
        for i in range(int(type_check.eval(gamma.ndim))):
            type_check.expect(x.shape[1 + i] == gamma.shape[i])

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
        rmax: float = 1,
        dmax: float = 0,
        update_statistics: bool = True,
    ) -> tuple[chainerx.ndarray, chainerx.ndarray, chainerx.ndarray]:
        op = 'batch_renormalization'
        to_mean = _running(op, 'running_mean', running_mean, gamma)
        to_var = _running(op, 'running_var', running_var, gamma)
        old_mean, old_var = functional.as_at_first(to_mean), functional.as_at_first(to_var)
        axis = _channels.default_axes(x.ndim, gamma.ndim)
        # r and d are constants for the gradient.
        wide = widened(x.as_grad_stopped())
        mean, std = wide.mean(axis), chainerx.sqrt(wide.var(axis) + eps)
        old_std = chainerx.sqrt(old_var.astype(std.dtype) + eps)
        r = chainerx.clip(std / old_std, 1 / rmax, rmax)
        d = chainerx.clip((mean - old_mean) / old_std, -dmax, dmax)
        moves = update_statistics and x.size != 0
        moved_mean, moved_var = (to_mean, to_var) if moves else (None, None)
        y = chainerx.batch_norm(
            x, gamma * r, beta + gamma * d, moved_mean, moved_var, eps, decay, axis
        )
        return y, r, std


def _running(
    op: str, name: str, array: VariableLike | None, gamma: chainerx.ndarray
) -> chainerx.ndarray:
    if array is None:
        raise TypeError(f'{op}: {name} is required')
    running = tp.cast(chainerx.ndarray, _channels.running(op, name, array))
    if running.shape != gamma.shape:
        raise ValueError(f'{op}: {name}.shape is {running.shape}, expected {gamma.shape}')
    return running


def batch_renormalization(
    x: VariableLike,
    gamma: VariableLike,
    beta: VariableLike,
    rmax: float,
    dmax: float,
    eps: float = 2e-5,
    running_mean: VariableLike | None = None,
    running_var: VariableLike | None = None,
    decay: float = 0.9,
    update_statistics: bool = False,
) -> variable.Variable:
    """Batch normalization, corrected towards running statistics within bounds.

    Args:
        x (Variable or array): (n, channels, ...), any float dtype.
        gamma (Variable or array): Scale, of the shape of the axes that follow the first; any float
            dtype, which ``beta`` has, too.
        beta (Variable or array): Shift, likewise.
        rmax (float): The most that the scale is corrected by, at least 1.
        dmax (float): The most that the shift is corrected by.
        eps (float): Added to variances; not negative.
        running_mean (array): Of the shape of ``gamma``.
        running_var (array): Likewise.
        decay (float): How much of the running statistics stays.
        update_statistics (bool): Whether they are written to, as in
            :func:`~chainer.functions.batch_normalization`.

    Returns:
        Variable: ``((x - mean) / std * r + d) * gamma + beta``, where ``r`` is
        ``std / running_std`` and ``d`` is ``(mean - running_mean) / running_std``, clipped. Shape
        and dtype of ``x``. Differentiable in ``x``, ``gamma`` and ``beta``, any order; ``r``
        and ``d`` are constants.

    Raises:
        InvalidType: If shapes or dtypes do not fit.
        TypeError: If running statistics are missing.
        ValueError: If their shapes do not fit, or they can't be written to.
    Source: Ioffe, Batch Renormalization, NIPS 2017.
    """
    return BatchRenormalizationFunction.call(
        x,
        gamma,
        beta,
        eps=eps,
        running_mean=running_mean,
        running_var=running_var,
        decay=decay,
        rmax=rmax,
        dmax=dmax,
        update_statistics=update_statistics,
    )


def fixed_batch_renormalization(
    x: VariableLike,
    gamma: VariableLike,
    beta: VariableLike,
    mean: VariableLike,
    var: VariableLike,
    eps: float = 2e-5,
) -> variable.Variable:
    """Normalizes with statistics that are given; the same as `fixed_batch_normalization`.

    Args:
        x (Variable or array): (n, channels, ...), any float dtype.
        gamma (Variable or array): Scale, of the shape of the axes that follow the first; any float
            dtype, which the arrays that follow have, too.
        beta (Variable or array): Shift, likewise.
        mean (Variable or array): Likewise.
        var (Variable or array): Likewise.
        eps (float): Added to the variance; not negative.

    Returns:
        Variable: ``(x - mean) / sqrt(var + eps) * gamma + beta``, shape and dtype of ``x``.
        Differentiable in all of them, any order.

    Raises:
        InvalidType: If shapes or dtypes do not fit.
        ValueError: If ``eps`` is negative.

    Note:
        Deprecated, with a warning; nothing distinguishes it from the other.
    """
    warnings.warn(
        'fixed_batch_renormalization is deprecated: use fixed_batch_normalization instead',
        DeprecationWarning,
        stacklevel=2,
    )
    return batch_normalization.fixed_batch_normalization(x, gamma, beta, mean, var, eps)
