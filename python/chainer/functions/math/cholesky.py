"""Cholesky's factor of a matrix."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions.math._matrix import Matrices, in_precision

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Cholesky(Matrices):
    """See `cholesky`."""

    label = 'cholesky'

    @staticmethod
    def compose(a: chainerx.ndarray) -> chainerx.ndarray:
        return in_precision(chainerx.linalg.cholesky, a)


def cholesky(a: VariableLike) -> variable.Variable:
    """Cholesky's factor: the lower triangle ``l`` with ``a = l @ l.T``.

    Args:
        a (Variable or array): (n, n), any float dtype, float16 is computed in float32; symmetric,
            of which the lower triangle is read.

    Returns:
        Variable: Shape and dtype of ``a``. Differentiable, any order; the gradient is symmetric.

    Raises:
        InvalidType: If ``a`` is no square matrix of a float dtype.
        LinAlgError: If it is not positive definite; also a ValueError.
    """
    return Cholesky.call(a)
