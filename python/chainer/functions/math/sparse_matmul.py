"""Products of sparse and dense matrices."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np
from chainerx import _core
from chainerx._core import engine

from chainer import utils, variable
from chainer._graph.builtin import BuiltinFunction, _as_chainerx, _to_numpy
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, InTypes, NdArray, VariableLike
    from chainer.utils.sparse import CooMatrix


class _Pattern(tp.NamedTuple):
    """Where the elements of a sparse matrix are, as the user gave it."""

    row: NdArray
    col: NdArray
    shape: tuple[int, int]
    is_transposed: bool

    def transposed(self) -> _Pattern:
        return self._replace(is_transposed=not self.is_transposed)


class _Places(tp.NamedTuple):
    """The same; of a batch, in its block-diagonal matrix."""

    rows: chainerx.ndarray
    columns: chainerx.ndarray
    n_rows: int
    keep: chainerx.ndarray | None  # which elements count, if not all do


def _multiply(
    data: chainerx.ndarray, dense: chainerx.ndarray, pattern: _Pattern
) -> chainerx.ndarray:
    places = _find_places(pattern)
    if places.keep is not None:
        data = chainerx.take(data, places.keep, 0)
    terms = data[:, None] * chainerx.take(dense, places.columns, 0)
    return _core._scatter(terms, places.rows, places.n_rows)


def _gradient(
    gy: chainerx.ndarray,
    needed: tuple[bool, ...],
    inputs: tuple[chainerx.ndarray, ...],
    _: None,
    pattern: _Pattern,
) -> tuple[chainerx.ndarray | None, ...]:
    data, dense = inputs
    g_data = g_dense = None
    if needed[0]:
        places = _find_places(pattern)
        rows = chainerx.take(gy, places.rows, 0)
        g_data = (rows * chainerx.take(dense, places.columns, 0)).sum(1)
        if places.keep is not None:
            g_data = _core._scatter(g_data, places.keep, len(data))
    if needed[1]:
        g_dense = _product(data, gy, pattern.transposed())
    return g_data, g_dense


# Neither the terms, as many as elements times columns, nor the places are kept.
_product = engine.WithGradient('sparse_matmul', _multiply, _gradient, 1)


def _check_range(name: str, index: np.ndarray, length: int) -> None:
    if index.size and not 0 <= index.min() <= index.max() < length:
        raise ValueError(
            f'sparse_matmul: {name} has indices from {index.min()} to {index.max()}, but the '
            f'sparse matrix has {length} of them'
        )


def _find_places(pattern: _Pattern) -> _Places:
    """Padding, whose rows are negative, is left out."""
    shape = pattern.shape
    rows = _to_numpy(pattern.row).astype('int64')
    columns = _to_numpy(pattern.col).astype('int64')
    counts = rows >= 0
    _check_range('row', rows[counts], shape[0])
    _check_range('col', columns[counts], shape[1])
    batch = 1
    if rows.ndim == 2:
        batch = len(rows)
        offsets = np.arange(batch)[:, None]
        rows = rows + offsets * shape[0]
        columns = columns + offsets * shape[1]
    device = _as_chainerx(pattern.row).device

    def to_device(index: np.ndarray) -> chainerx.ndarray:
        return chainerx.array(index, device=device)

    keep = None if counts.all() else to_device(counts.ravel().nonzero()[0])
    found = to_device(rows[counts]), to_device(columns[counts])
    if pattern.is_transposed:
        return _Places(found[1], found[0], batch * shape[1], keep)
    return _Places(found[0], found[1], batch * shape[0], keep)


class CooMatMul(BuiltinFunction):
    """See `sparse_matmul`; ``transc`` transposes the result, and ``dtype`` is its dtype."""

    check_uses_attributes = True

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('sp', 'dn'))
        sp, dn = in_types
        type_check.expect(sp.dtype.kind == 'f', dn.dtype.kind == 'f')
        type_check.expect(dn.ndim >= 2, dn.ndim <= 3, sp.ndim == dn.ndim - 1)
        if type_check.eval(sp.ndim) == 2:
            type_check.expect(dn.shape[0] == sp.shape[0])
        length = self.sp_shape[0 if self.transa else 1]
        type_check.expect(dn.shape[-1 if self.transb else -2] == length)

    @staticmethod
    def compose(
        sp: chainerx.ndarray,
        dn: chainerx.ndarray,
        *,
        sp_row: NdArray,
        sp_col: NdArray,
        sp_shape: tuple[int, int],
        sp_order: str = 'other',
        transa: bool = False,
        transb: bool = False,
        transc: bool = False,
        dtype: DTypeLike | None = None,
    ) -> chainerx.ndarray:
        dense = chainerx.swapaxes(dn, -1, -2) if transb else dn
        pattern = _Pattern(sp_row, sp_col, sp_shape, transa)
        rows = dense.shape[0] * (dense.shape[1] if dense.ndim == 3 else 1)
        y = _product(sp.reshape((-1,)), dense.reshape((rows, dense.shape[-1])), pattern)
        if dn.ndim == 3:
            y = y.reshape((dn.shape[0], sp_shape[1 if transa else 0], y.shape[-1]))
        if transc:
            y = chainerx.swapaxes(y, -1, -2)
        return y if dtype is None or y.dtype == dtype else y.astype(dtype)


def sparse_matmul(
    a: CooMatrix | VariableLike,
    b: CooMatrix | VariableLike,
    transa: bool = False,
    transb: bool = False,
) -> variable.Variable:
    """The product of a sparse and a dense matrix, or of batches of them.

    Args:
        a (CooMatrix, Variable or array): The left operand.
        b (CooMatrix, Variable or array): The right one; one of the two is a CooMatrix. The dense
            one is of a float dtype, and has an axis more if the other is a batch.
        transa (bool): Whether the matrices of ``a`` are transposed.
        transb (bool): Whether those of ``b`` are.

    Returns:
        Variable: The product, of shape (..., m, n) and the promoted dtype. Differentiable in the
        dense operand and in ``data`` of the sparse one, any order.

    Raises:
        InvalidType: If shapes or dtypes do not fit.
        ValueError: If not one of the two is sparse, or an index of it is out of range.
    """
    sparse_a, sparse_b = (isinstance(x, utils.CooMatrix) for x in (a, b))
    if sparse_a == sparse_b:
        raise ValueError(
            f'sparse_matmul: a is of type {type(a).__name__} and b of type {type(b).__name__}, '
            'expected one CooMatrix'
        )
    sp: tp.Any = a if sparse_a else b
    dn = b if sparse_a else a
    return CooMatMul.call(
        sp.data,
        dn,
        sp_row=sp.row,
        sp_col=sp.col,
        sp_shape=tuple(sp.shape),
        sp_order=sp.order,
        transa=transa if sparse_a else not transb,
        transb=transb if sparse_a else not transa,
        transc=not sparse_a,
        dtype=None,
    )
