"""Normalization by the root mean square."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class RMSNorm(BuiltinFunction):
    """See `rms_norm`."""

    check_uses_attributes = False

    def check_type_forward(self, in_types: InTypes) -> None:
        n_in = type_check.eval(in_types.size())
        type_check._argname(in_types, ('x', 'gamma')[:n_in])
        x = in_types[0]
        type_check.expect(x.dtype.kind == 'f', x.ndim >= 1)
        if n_in == 2:
            gamma = in_types[1]
            type_check.expect(gamma.dtype == x.dtype, gamma.ndim >= 1, gamma.ndim <= x.ndim)
            type_check.expect(gamma.shape == x.shape[x.ndim - type_check.eval(gamma.ndim) :])

    @staticmethod
    def compose(
        x: chainerx.ndarray, gamma: chainerx.ndarray | None = None, *, eps: float = 1e-6
    ) -> chainerx.ndarray:
        return chainerx.rms_norm(x, gamma, eps)


def rms_norm(
    x: VariableLike, gamma: VariableLike | None = None, eps: float = 1e-6
) -> variable.Variable:
    """``x / sqrt(mean(x ** 2) + eps) * gamma``, with the mean over the last axes.

    Args:
        x (Variable or array): Any shape with an axis, any float dtype.
        gamma (Variable or array): Scale, of the shape of the last axes of ``x``, which count
            together, and of its dtype. None for no scale: the last axis counts.
        eps (float): Added to the mean of squares; not negative.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable in both, any order.

    Raises:
        InvalidType: If shapes or dtypes do not fit.
        ValueError: If ``eps`` is negative.
    Source: Zhang and Sennrich, NeurIPS 2019.
    """
    return RMSNorm.call(x, gamma, eps=eps)
