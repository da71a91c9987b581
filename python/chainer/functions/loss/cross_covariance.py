"""A penalty on the covariance of two sets of features."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer._graph.gradients import recomputed
from chainer.functions.loss._reduction import centered, check_reduce, half_squared_sum
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike

_REDUCE = ('half_squared_sum', 'no')


def _compute(y: chainerx.ndarray, z: chainerx.ndarray, reduce: str) -> chainerx.ndarray:
    covariance = chainerx.matmul(centered(y).T, centered(z)) / len(y)
    loss = covariance if reduce == 'no' else half_squared_sum(covariance)
    return loss.astype(chainerx.result_type(y, z))


class CrossCovariance(BuiltinFunction):
    """See `cross_covariance`."""

    check_uses_attributes = False

    def _prepare(self) -> None:
        check_reduce('cross_covariance', self.reduce, _REDUCE)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('y', 'z'))
        y, z = in_types
        type_check.expect(
            y.dtype.kind == 'f',
            y.dtype == z.dtype,
            y.ndim == 2,
            z.ndim == 2,
            y.shape[0] == z.shape[0],
        )

    compose = routine(
        recomputed('cross_covariance', _compute, n_params=1), reduce='half_squared_sum'
    )


def cross_covariance(
    y: VariableLike, z: VariableLike, reduce: str = 'half_squared_sum'
) -> variable.Variable:
    """The covariance of two sets of features over a minibatch.

    Args:
        y (Variable or array): (N, features of ``y``), a float dtype.
        z (Variable or array): (N, features of ``z``), the same dtype.
        reduce (str): 'half_squared_sum' for half the sum of squares, 'no' for the covariance
            itself.

    Returns:
        Variable: 0-d, or (features of ``y``, features of ``z``), their dtype.
        Differentiable in both, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: For an unknown ``reduce``.

    Source: Cheung et al., ICLR 2015 workshop.
    """
    check_reduce('cross_covariance', reduce, _REDUCE)
    return CrossCovariance.call(y, z, reduce=reduce)
