"""Normalization of groups of channels."""

from __future__ import annotations

import typing as tp

from chainerx._core import _group_norm

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class GroupNormalization(BuiltinFunction):
    """See `group_normalization`.

    Attributes:
        mean: Of all groups of the first image, then of the second, and so on.
        inv_std: ``1 / sqrt(var + eps)`` of the same.
    """

    saved = ('mean', 'inv_std')
    check_uses_attributes = False
    compose = routine(_group_norm, groups=..., eps=1e-5)

    def _prepare(self) -> None:
        _check_groups(self.groups)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 'gamma', 'beta'))
        x, gamma, beta = in_types
        type_check.expect(
            x.dtype.kind == 'f',
            gamma.dtype.kind == 'f',
            beta.dtype == gamma.dtype,
            x.ndim >= 2,
            gamma.ndim == 1,
            beta.shape == gamma.shape,
        )
        type_check.expect(x.shape[1] == gamma.shape[0])


def _check_groups(groups: object) -> None:
    if not isinstance(groups, int):
        raise TypeError(f'group_normalization: groups is {groups!r}, expected an int')


def group_normalization(
    x: VariableLike, groups: int, gamma: VariableLike, beta: VariableLike, eps: float = 1e-5
) -> variable.Variable:
    """Normalizes the channels of a group together, image by image.

    Args:
        x (Variable or array): (n, channels, ...), any float dtype.
        groups (int): A divisor of the number of channels.
        gamma (Variable or array): Scale, (channels,); any float dtype, which ``beta`` has, too.
        beta (Variable or array): Shift, (channels,).
        eps (float): Added to the variance; not negative.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable in all of them, any order.

    Raises:
        InvalidType: If shapes or dtypes do not fit.
        TypeError: If ``groups`` is no int.
        ValueError: If it does not divide the channels, or ``eps`` is negative.
    Source: Wu and He, ECCV 2018.
    """
    _check_groups(groups)
    return GroupNormalization.call(x, gamma, beta, groups=groups, eps=eps)
