"""Sparse matrices in coordinate format."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer import backend, utils, variable

if tp.TYPE_CHECKING:
    from chainer._graph.variable import Variable
    from chainer._typing import NdArray, VariableLike


class CooMatrix:
    """A sparse matrix, or a batch of them.

    Elements are given by value, row and column. In a batch, matrices with fewer elements than
    others are padded: value 0, row and column -1.

    Args:
        data: Values, of shape (elements,) or (batch, elements).
        row: Rows, of the same shape.
        col: Columns, of the same shape.
        shape: Shape of a (dense) matrix.
        order: In which order elements stand: ``'C'`` (by row), ``'F'`` (by column), ``'other'``,
            or None, if it is not known and shall be found out.
        requires_grad: Whether `data`, which becomes a Variable, takes a gradient.
    """

    def __init__(
        self,
        data: VariableLike,
        row: NdArray,
        col: NdArray,
        shape: tuple[int, int],
        order: str | None = None,
        requires_grad: bool = False,
    ) -> None:
        if data.ndim not in (1, 2):
            raise ValueError('ndim of data must be 1 or 2.')
        if not data.shape == row.shape == col.shape:
            raise ValueError(
                'shape of data, row and col must be the same. '
                f'Actual: {data.shape}, {row.shape}, {col.shape}'
            )
        if len(shape) != 2:
            raise ValueError('length of shape must be 2.')
        if order not in ('C', 'F', 'other', None):
            raise ValueError("order must be 'C', 'F', 'other' or None.")
        self.data = variable.Variable(data, requires_grad=requires_grad)
        self.row = row
        self.col = col
        self.shape = shape
        self.order = get_order(row, col) if order is None else order

    def to_dense(self) -> Variable:
        """The dense matrices, an array of the kind of `data`. Values at one place add up."""
        device = backend.get_device_from_array(self.data)
        data, row, col = backend.CpuDevice().send((self.data.array, self.row, self.col))
        x = np.zeros((*data.shape[:-1], *self.shape), data.dtype)
        index = (row, col) if data.ndim == 1 else (np.arange(len(data))[:, None], row, col)
        np.add.at(x, index, data)
        return device.send(x)


def to_coo(x: VariableLike, ldnz: int | None = None, requires_grad: bool = False) -> CooMatrix:
    """Makes a sparse matrix of a dense one, or of a batch of them.

    Args:
        x: Array of two or three dimensions.
        ldnz: Number of elements of each sparse matrix, padding included, at least.
        requires_grad: Whether the values take a gradient.

    Returns:
        CooMatrix: Its elements are in C order.
    """
    if x.ndim not in (2, 3):
        raise ValueError('ndim of x must be 2 or 3.')
    device = backend.get_device_from_array(x)
    dense = backend.CpuDevice().send(x)
    batch = [(m[i], *i) for m in (dense if dense.ndim == 3 else [dense]) for i in [np.nonzero(m)]]
    length = max([len(values) for values, _, _ in batch] + [ldnz or 0])
    data = np.zeros((len(batch), length), dense.dtype)
    row, col = np.full((2, len(batch), length), -1, np.int32)
    for k, (values, rows, cols) in enumerate(batch):
        data[k, : len(values)] = values
        row[k, : len(values)] = rows
        col[k, : len(values)] = cols
    data, row, col = device.send([a.reshape(*dense.shape[:-2], length) for a in (data, row, col)])
    return CooMatrix(data, row, col, dense.shape[-2:], order='C', requires_grad=requires_grad)


def get_order(row: NdArray, col: NdArray) -> str:
    """Finds out in which order elements stand; padding does not matter.

    Args:
        row (array): Rows of the elements, (..., number of elements); negative ones are padding.
        col (array): Their columns; same shape.

    Returns:
        ``'C'`` (by row), ``'F'`` (by column) or ``'other'``.

    Raises:
        ValueError: If shapes differ, or only one of them is padding where the other is an index.
    """
    if _is_c_order(row, col):
        return 'C'
    return 'F' if _is_c_order(col, row) else 'other'


def _is_c_order(row: NdArray, col: NdArray) -> bool:
    row, col = backend.CpuDevice().send((row, col))
    if row.shape != col.shape:
        raise ValueError(f'shape of row and col must be the same. Actual: {row.shape}, {col.shape}')
    if ((row < 0) != (col < 0)).any():
        raise ValueError('row and col must be padded at the same places')
    for r, c in zip(np.atleast_2d(row), np.atleast_2d(col), strict=True):
        r, c = r[r >= 0], c[r >= 0]
        later = (r[1:] > r[:-1]) | ((r[1:] == r[:-1]) & (c[1:] >= c[:-1]))
        if not later.all():
            return False
    return True


for _object in (CooMatrix, get_order, to_coo):
    setattr(utils, _object.__name__, _object)
