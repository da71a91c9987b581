"""Products of matrices."""

from __future__ import annotations

import typing as tp
import warnings

import chainerx
from chainerx._core import engine

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, InTypes, VariableLike


def _transposed(x: chainerx.ndarray) -> chainerx.ndarray:
    return chainerx.swapaxes(x, -1, -2) if x.ndim > 1 else x


class MatMul(BuiltinFunction):
    """See `matmul`; ``transc`` transposes the result, and ``dtype`` is its dtype if not None."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('a', 'b'))
        a, b = in_types
        type_check.expect(a.dtype.kind == 'f', b.dtype.kind == 'f', a.ndim >= 1, b.ndim >= 1)
        a_ndim, b_ndim = type_check.eval(a.ndim), type_check.eval(b.ndim)
        a_axis = -2 if self.transa and a_ndim > 1 else -1
        b_axis = -2 if not self.transb and b_ndim > 1 else -1
        type_check.expect(a.shape[a_axis] == b.shape[b_axis])
        if a_ndim > 2 and b_ndim > 2:
            type_check.expect_broadcast_shapes(a.shape[:-2], b.shape[:-2])

    @staticmethod
    def compose(
        a: chainerx.ndarray,
        b: chainerx.ndarray,
        *,
        transa: bool = False,
        transb: bool = False,
        transc: bool = False,
        dtype: DTypeLike | None = None,
    ) -> chainerx.ndarray:
        y = chainerx.matmul(_transposed(a) if transa else a, _transposed(b) if transb else b)
        if transc:
            y = _transposed(y)
        return y if dtype is None else y.astype(dtype)


class BatchMatMul(BuiltinFunction):
    """See `batch_matmul`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('a', 'b'))
        a, b = in_types
        type_check.expect(
            a.dtype.kind == 'f',
            a.dtype == b.dtype,
            a.ndim >= 2,
            a.ndim <= 3,
            b.ndim >= 2,
            b.ndim <= 3,
            a.shape[0] == b.shape[0],
        )
        a_ndim, b_ndim = type_check.eval(a.ndim), type_check.eval(b.ndim)
        if a_ndim == 3:
            length = a.shape[1 if self.transa else 2]
        else:
            length = a.shape[1] if self.transa else 1
        if b_ndim == 3:
            type_check.expect(b.shape[2 if self.transb else 1] == length)
        elif self.transb:
            type_check.expect(length == 1)
        else:
            type_check.expect(b.shape[1] == length)

    @staticmethod
    def compose(
        a: chainerx.ndarray, b: chainerx.ndarray, *, transa: bool = False, transb: bool = False
    ) -> chainerx.ndarray:
        a, b = (x if x.ndim == 3 else x[:, :, None] for x in (a, b))
        return chainerx.matmul(_transposed(a) if transa else a, _transposed(b) if transb else b)


def matmul(
    a: VariableLike, b: VariableLike, transa: bool = False, transb: bool = False
) -> variable.Variable:
    """The product of matrices, or of batches of such, as ``numpy.matmul`` has it.

    Args:
        a, b (Variable or array): Of the shape (..., rows, columns) or (length,), any float dtypes;
            axes before the last two broadcast. A 1-d array is a vector, on either side.
        transa, transb (bool): Whether the last two axes are exchanged first; a vector stays.

    Returns:
        Variable: (..., rows of ``a``, columns of ``b``), without the axis of a vector; the common
        dtype. Differentiable in both, any order.

    Raises:
        InvalidType: If a dtype is not a float, or shapes do not fit.
    """
    return MatMul.call(a, b, transa=transa, transb=transb, transc=False, dtype=None)


def batch_matmul(
    a: VariableLike, b: VariableLike, transa: bool = False, transb: bool = False
) -> variable.Variable:
    """The products of the matrices of two batches. Deprecated: `matmul` does it.

    Args:
        a, b (Variable or array): (N, rows, columns), or (N, rows) for batches of columns; one
            float dtype.
        transa, transb (bool): Whether the matrices are transposed first.

    Returns:
        Variable: (N, rows of ``a``, columns of ``b``), their dtype. Differentiable in both, any
        order.

    Raises:
        InvalidType: If dtypes differ or are not floats, or shapes do not fit.
    """
    warnings.warn(
        'batch_matmul is deprecated: use matmul instead', DeprecationWarning, stacklevel=2
    )
    return BatchMatMul.call(a, b, transa=transa, transb=transb)


engine.set_callbacks(matmul=matmul)
