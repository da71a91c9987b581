"""Inverses of matrices."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions.math._matrix import Matrices, in_precision

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Inv(Matrices):
    """See `inv`."""

    @staticmethod
    def compose(a: chainerx.ndarray) -> chainerx.ndarray:
        return in_precision(chainerx.linalg.inv, a)


class BatchInv(Matrices):
    """See `batch_inv`."""

    ndim = 3
    compose = staticmethod(Inv.compose)


def inv(a: VariableLike) -> variable.Variable:
    """The inverse of a matrix.

    Args:
        a (Variable or array): (n, n), any float dtype; float16 is computed in float32.

    Returns:
        Variable: Shape and dtype of ``a``. Differentiable, any order.

    Raises:
        InvalidType: If ``a`` is no square matrix of a float dtype.
        LinAlgError: If it is singular; also a ValueError.
    """
    return Inv.call(a)


def batch_inv(a: VariableLike) -> variable.Variable:
    """The inverses of several matrices.

    Args:
        a (Variable or array): (batch, n, n), any float dtype; float16 is computed in float32.

    Returns:
        Variable: Shape and dtype of ``a``. Differentiable, any order.

    Raises:
        InvalidType: If ``a`` has no square matrices of a float dtype.
        LinAlgError: If one is singular; also a ValueError.
    """
    return BatchInv.call(a)
