"""What ONNX has no operator for, but a loop: running products, inverses, Cholesky's factors."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainerx.onnx._terms import Term

if tp.TYPE_CHECKING:
    from chainerx.onnx._writer import Writer

Steps: tp.TypeAlias = tuple[list[str], list[tuple[str, tp.Any]]]


def cumprod(g: Writer, x: Term, axis: int, ndim: int) -> str:
    """Running products along an axis."""
    if g.opset >= 26:
        return g.op('CumProd', [x.name, g.const(axis, 'axis', np.int64)])
    g.need(8, 'Expand')
    order = [axis, *(i for i in range(ndim) if i != axis)]
    turned = g.transpose(x.name, order)
    ones = g.op('Expand', [x.of(1).name, g.lengths_of(turned, 1, ndim)])
    # A row in front, for a loop of no steps would not know the shape of its results.
    turned = g.concat([g.unsqueeze(ones, [0]), turned])

    def step(number: str, states: list[str]) -> Steps:
        y = g.op('Mul', [states[0], g.op('Gather', [turned, number], axis=0)])
        return [y], [(y, x.dtype)]

    count = g.squeeze(g.length_of(turned, 0), [0])
    _, y = g.loop(count, [(ones, x.dtype)], step)
    y = g.slice(y, [1], [np.iinfo(np.int64).max], [0])
    return g.transpose(y, [order.index(i) for i in range(ndim)])


def inverse(g: Writer, a: Term, n: int) -> Term:
    """Gauss and Jordan, with partial pivoting; a singular matrix has infinities and NaN.

    Args:
        g (Writer): Where the operators go.
        a (Term): A batch of matrices, floats.
        n (int): How many rows these have.

    Returns:
        Term: Their inverses.
    """
    g.need(9, 'Where')
    eye = Term(g, g.const(np.eye(n)[None], 'eye', a.dtype), a.dtype)
    unit = a * 0 + eye
    both = g.concat([a.name, unit.name], 2)
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
    return Term(g, g.slice(y, [n], [2 * n], [2]), a.dtype)


def cholesky(g: Writer, a: Term, n: int) -> Term:
    """The factor of a matrix, a column for each step; of one not positive definite it has NaN."""
    if n == 0:
        return a
    g.need(9, 'Where')
    rows = Term(g, g.const(np.arange(n)[:, None], 'rows', np.int64), np.int64)

    def step(name: str, states: list[str]) -> Steps:
        number, m = Term(g, name, np.int64), Term(g, states[0], a.dtype)
        column = Term(g, g.op('Gather', [m.name, g.unsqueeze(name, [0])], axis=1), a.dtype)
        pivot = Term(g, g.op('Gather', [column.name, name], axis=0), a.dtype)
        column = (rows < number).where(0, column / pivot.sqrt())
        rest = m - column.op('MatMul', Term(g, g.transpose(column.name, [1, 0]), a.dtype))
        return [rest.name], [(g.squeeze(column.name, [1]), a.dtype)]

    _, columns = g.loop(g.const(n, 'count', np.int64), [(a.name, a.dtype)], step)
    return Term(g, g.transpose(columns, [1, 0]), a.dtype)
