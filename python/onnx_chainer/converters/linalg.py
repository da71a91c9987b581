"""What ONNX has no operator for, but a loop: running products, inverses, Cholesky's factors."""

from __future__ import annotations

import typing as tp

import numpy as np
from chainerx.onnx._terms import Term

from onnx_chainer.converters._registry import Conversion, converts

Steps: tp.TypeAlias = tuple[list[str], list[tuple[str, tp.Any]]]


@converts('Cumprod')
def cumprod(g: Conversion) -> str:
    x, axis, ndim = g.x[0], g.func.axis, len(g.shape(0))
    if axis is None:
        x, axis, ndim = g.reshape(x, [-1]), 0, 1
    axis %= ndim
    if g.opset >= 26:
        return g.op('CumProd', [x, g.const(axis, 'axis', np.int64)])
    g.need(8, 'Expand')
    g.hint(g.lengths(0) if g.func.axis is not None else [None])
    order = [axis, *(i for i in range(ndim) if i != axis)]
    turned = g.transpose(x, order)
    ones = g.op('Expand', [g.like(1), g.lengths_of(turned, 1, ndim)])

    def step(number: str, states: list[str]) -> Steps:
        y = g.op('Mul', [states[0], g.op('Gather', [turned, number], axis=0)])
        return [y], [(y, g.dtype(0))]

    count = g.squeeze(g.length_of(turned, 0), [0])
    _, y = g.loop(count, [(ones, g.dtype(0))], step)
    return g.transpose(y, [order.index(i) for i in range(ndim)])


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
    """Gauss and Jordan, with partial pivoting; a singular matrix has infinities and NaN."""
    g.need(9, 'Where')
    a, n = _matrices(g)
    g.hint(g.lengths(0))
    eye = Term(g, g.const(np.eye(n)[None], 'eye', a.dtype), a.dtype)
    unit = a * 0 + eye
    both = g.op('Concat', [a.name, unit.name], axis=2)
    rows = Term(g, g.const(np.arange(n), 'rows', np.int64), np.int64)

    def total(x: Term, axis: int) -> Term:
        return Term(g, g.reduce('Sum', x.name, [axis], keepdims=True), x.dtype)

    def column(x: Term, number: Term) -> Term:
        return Term(g, g.op('Gather', [x.name, g.unsqueeze(number.name, [0])], axis=2), x.dtype)

    def step(name: str, states: list[str]) -> Steps:
        number, m = Term(g, name, np.int64), Term(g, states[0], a.dtype)
        is_done = Term(g, g.unsqueeze((rows < number).name, [0, 2]), bool)
        sizes = is_done.where(-1, column(m, number).abs())
        best = g.op('ArgMax', [sizes.name], axis=1, keepdims=1)
        here = Term(g, g.unsqueeze(rows.op('Equal', number, dtype=bool).name, [0, 2]), bool)
        row_numbers = Term(g, g.unsqueeze(rows.name, [0, 2]), np.int64)
        there = row_numbers.op('Equal', Term(g, best, np.int64), dtype=bool)
        first, second = (total(place.where(m, 0), 1) for place in (here, there))
        m = here.where(second, there.where(first, m))
        pivot = second / column(second, number)
        factors = here.where(0, column(m, number))
        return [here.where(pivot, m - factors * pivot).name], []

    count = g.const(n, 'count', np.int64)
    (y,) = g.loop(count, [(both, a.dtype)], step)
    return _result(g, Term(g, g.slice(y, [n], [2 * n], [2]), a.dtype))


@converts('Cholesky')
def cholesky(g: Conversion) -> str:
    """A column for each step; a matrix that is not positive definite has NaN."""
    g.need(9, 'Where')
    a, n = g.wide(0), g.shape(0)[0]
    rows = Term(g, g.const(np.arange(n)[:, None], 'rows', np.int64), np.int64)

    def step(name: str, states: list[str]) -> Steps:
        number, m = Term(g, name, np.int64), Term(g, states[0], a.dtype)
        column = Term(g, g.op('Gather', [m.name, g.unsqueeze(name, [0])], axis=1), a.dtype)
        pivot = Term(g, g.op('Gather', [column.name, name], axis=0), a.dtype)
        column = (rows < number).where(0, column / pivot.sqrt())
        rest = m - column.op('MatMul', Term(g, g.transpose(column.name, [1, 0]), a.dtype))
        return [rest.name], [(g.squeeze(column.name, [1]), a.dtype)]

    _, columns = g.loop(g.const(n, 'count', np.int64), [(a.name, a.dtype)], step)
    return Term(g, g.transpose(columns, [1, 0]), a.dtype).cast(g.out_dtype()).name


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
