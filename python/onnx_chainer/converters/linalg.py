"""Running products, inverses, Cholesky's factors, sparse products."""

from __future__ import annotations

import numpy as np
from chainerx.onnx import _loops
from chainerx.onnx._terms import Term

from onnx_chainer.converters._registry import Conversion, converts


@converts('Cumprod')
def cumprod(g: Conversion) -> str:
    x, axis, ndim = g.x[0], g.func.axis, len(g.shape(0))
    if axis is None:
        x, axis, ndim = g.reshape(x, [-1]), 0, 1
    axis %= ndim
    if g.opset < 26:
        g.hint(g.lengths(0) if g.func.axis is not None else [None])
    return _loops.cumprod(g, Term(g, x, g.dtype(0)), axis, ndim)


def _matrices(g: Conversion) -> tuple[Term, int]:
    """The input as a batch of matrices, and how many rows these have."""
    a = g.wide(0)
    n = g.shape(0)[-1]
    if len(g.shape(0)) == 2:
        a = Term(g, g.unsqueeze(a.name, [0]), a.dtype)
    return a, n


def _result(g: Conversion, y: Term) -> str:
    name = g.squeeze(y.name, [0]) if len(g.out_shape()) == 2 else y.name
    return Term(g, name, y.dtype).cast(g.out_dtype()).name


@converts('Inv', 'BatchInv')
def inverse(g: Conversion) -> str:
    a, n = _matrices(g)
    g.hint(g.lengths(0))
    return _result(g, _loops.inverse(g, a, n))


@converts('Cholesky')
def cholesky(g: Conversion) -> str:
    return _loops.cholesky(g, g.wide(0), g.shape(0)[0]).cast(g.out_dtype()).name


@converts('CooMatMul')
def sparse_matmul(g: Conversion) -> str:
    g.need(16, 'a reduction of ScatterND')
    f = g.func
    dtype = np.result_type(g.dtype(0), g.dtype(1))
    data, dense = g.term(0).cast(dtype), g.term(1).cast(dtype)
    row, column = (
        Term(g, g.value_of(x, 'places'), x.dtype).cast(np.int64) for x in (f.sp_row, f.sp_col)
    )
    is_used = ~(row < 0)
    data, row = is_used.where(data, 0), is_used.where(row, 0)
    n_rows, n_columns = f.sp_shape
    if f.transa:
        row, column, n_rows, n_columns = column, row, n_columns, n_rows
    ndim = len(g.shape(1))
    if f.transb:
        dense = Term(g, g.transpose(dense.name, [*range(ndim - 2), ndim - 1, ndim - 2]), dtype)
    batch = g.fixed(1, 0) if ndim == 3 else 1
    if ndim == 3:
        # A batch is one matrix of blocks along its diagonal.
        number = Term(g, g.const(np.arange(batch)[:, None], 'examples', np.int64), np.int64)
        row, column = row + number * n_rows, column + number * n_columns
    width = g.fixed(1, -2 if f.transb else -1)
    terms = g.op('Gather', [g.reshape(dense.name, [-1, width]), g.reshape(column.name, [-1])])
    products = Term(g, terms, dtype) * Term(g, g.reshape(data.name, [-1, 1]), dtype)
    zeros = g.op('Expand', [g.const(0, 'zero', dtype), g.ints([batch * n_rows, width])])
    places = g.reshape(row.name, [-1, 1])
    y = g.op('ScatterND', [zeros, places, products.name], reduction='add')
    if ndim == 3:
        y = g.reshape(y, [batch, n_rows, width])
    if f.transc:
        y = g.transpose(y, [*range(ndim - 2), ndim - 1, ndim - 2])
    return Term(g, y, dtype).cast(g.out_dtype()).name
