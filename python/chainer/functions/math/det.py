"""Determinants of matrices."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions.array.reshape import reshape
from chainer.functions.math._matrix import Matrices, in_precision
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class BatchDet(Matrices):
    """See `batch_det`."""

    ndim = 3
    label = 'det'

    @staticmethod
    def compose(a: chainerx.ndarray) -> chainerx.ndarray:
        return in_precision(chainerx.linalg.det, a)


def batch_det(a: VariableLike) -> variable.Variable:
    """The determinants of several matrices.

    Args:
        a (Variable or array): (batch, n, n), any float dtype; float16 is computed in float32.

    Returns:
        Variable: (batch,), the dtype of ``a``. Differentiable, any order; of a singular matrix
        there is no gradient, backward is a LinAlgError.

    Raises:
        InvalidType: If ``a`` has no square matrices of a float dtype.
    """
    return BatchDet.call(a)


def det(a: VariableLike) -> variable.Variable:
    """The determinant of a matrix.

    Args:
        a (Variable or array): (n, n), or with axes of length 1 behind; any float dtype; float16 is
            computed in float32.

    Returns:
        Variable: 0-dimensional, the dtype of ``a``. Differentiable, any order; of a singular
        matrix there is no gradient, backward is a LinAlgError.

    Raises:
        InvalidType: If ``a`` is no square matrix of a float dtype.
    """
    a = variable.as_variable(a)
    behind = a.shape[2:]
    if a.ndim < 2 or any(n != 1 for n in behind):
        name = type_check.make_variable
        ones = (1,) * len(behind)
        with type_check._naming('det'):
            type_check.expect(name(a.ndim, 'a.ndim') >= 2, name(behind, 'a.shape[2:]') == ones)
    return reshape(batch_det(reshape(a, (1, *a.shape[:2]))), ())
