"""Comparisons and logic."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainerx.onnx._formula import Expression, formula
from chainerx.onnx._routine import Operand, RoutineWriter, Typed, composed, row


def _compared(g: RoutineWriter, name: str, x1: tp.Any, x2: tp.Any) -> tuple[Expression, Expression]:
    kinds = [np.dtype(x.dtype) for x in (x1, x2) if isinstance(x, (Operand, np.generic))]
    if {'uint64', 'int64'} <= {k.name for k in kinds}:
        g.lacks(f'{name} of uint64 and int64', 'convert one of them')
    dtype = g.common_dtype(x1, x2)
    numbers = [x for x in (x1, x2) if not isinstance(x, (Operand, np.generic))]
    if dtype.kind in 'iu' and numbers:
        dtype = np.dtype(np.int64) if dtype.name != 'uint64' else dtype
    if len({k.kind for k in kinds} | {np.asarray(n).dtype.kind for n in numbers}) > 1:
        # Of an integer and a float, all digits count.
        dtype = np.dtype(np.float64) if dtype.kind in 'fV' and 'i' in str(kinds) else dtype
    if dtype.kind == 'b' and name != 'equal':
        dtype = np.dtype(np.int32)
    return Expression(g, g.to(x1, dtype)), Expression(g, g.to(x2, dtype))


@row('equal')
def _(g: RoutineWriter, x1: tp.Any, x2: tp.Any) -> Typed:
    a, b = _compared(g, 'equal', x1, x2)
    return a.equal(b).value


@row('not_equal')
def _(g: RoutineWriter, x1: tp.Any, x2: tp.Any) -> Typed:
    a, b = _compared(g, 'equal', x1, x2)
    return (~a.equal(b)).value


@row('less')
def _(g: RoutineWriter, x1: tp.Any, x2: tp.Any) -> Typed:
    a, b = _compared(g, 'less', x1, x2)
    return (a < b).value


@row('less_equal')
def _(g: RoutineWriter, x1: tp.Any, x2: tp.Any) -> Typed:
    a, b = _compared(g, 'less_equal', x1, x2)
    return (a.op('LessOrEqual', b, dtype=bool) if g.opset >= 12 else a <= b).value


@row('greater')
def _(g: RoutineWriter, x1: tp.Any, x2: tp.Any) -> Typed:
    a, b = _compared(g, 'greater', x1, x2)
    return (a > b).value


@row('greater_equal')
def _(g: RoutineWriter, x1: tp.Any, x2: tp.Any) -> Typed:
    a, b = _compared(g, 'greater_equal', x1, x2)
    return (a.op('GreaterOrEqual', b, dtype=bool) if g.opset >= 12 else a >= b).value


@formula('logical_and')
def _(x1: Expression, x2: Expression) -> Expression:
    return x1 & x2


@formula('logical_or')
def _(x1: Expression, x2: Expression) -> Expression:
    return x1 | x2


@formula('logical_xor')
def _(x1: Expression, x2: Expression) -> Expression:
    return x1 ^ x2


@formula('logical_not')
def _(x: Expression) -> Expression:
    return ~x


@formula('isnan', of='first')
def _(x: Expression) -> Expression:
    return x.is_nan()


@formula('isinf', of='first')
def _(x: Expression) -> Expression:
    return x.is_infinite()


@formula('isposinf', of='first')
def _(x: Expression) -> Expression:
    return x.is_infinite(1)


@formula('isneginf', of='first')
def _(x: Expression) -> Expression:
    return x.is_infinite(-1)


@formula('isfinite', of='first')
def _(x: Expression) -> Expression:
    return ~(x.is_nan() | x.is_infinite())


@formula('iscomplex', of='first')
def _(x: Expression) -> Expression:
    return (x.is_nan().where(x.of(0), x) * 0).cast(bool)


@formula('isreal', of='first')
def _(x: Expression) -> Expression:
    return ~(x.is_nan().where(x.of(0), x) * 0).cast(bool)


@composed('isclose')
def _(
    a: tp.Any, b: tp.Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> tp.Any:
    import chainerx as chx

    if isinstance(a, chx.ndarray) and a.dtype.kind not in 'fV':
        a = a.astype('float64')
    if isinstance(b, chx.ndarray) and b.dtype.kind not in 'fV':
        b = b.astype('float64')
    a, b = chx.asarray(a), chx.asarray(b)
    near = chx.absolute(a - b) <= atol + rtol * chx.absolute(b)
    near = chx.logical_or(chx.equal(a, b), chx.logical_and(near, chx.isfinite(b)))
    if equal_nan:
        near = chx.logical_or(near, chx.logical_and(chx.isnan(a), chx.isnan(b)))
    return near


@row('where')
def _(g: RoutineWriter, condition: tp.Any, x: tp.Any = None, y: tp.Any = None) -> tp.Any:
    if x is None:
        return _positions(g, condition)
    return g.choose(condition, x, y)


@row('nonzero')
def _positions(g: RoutineWriter, a: Operand) -> tuple[str, ...]:
    rows = g.split(found_places(g, a), [1] * a.ndim, 0)
    return tuple([g.squeeze(r, [0]) for r in rows])


def found_places(g: RoutineWriter, a: tp.Any) -> str:
    """Where elements are not 0: a column for each."""
    g.need(9, 'NonZero')
    if isinstance(a, Operand) and a.ndim == 0:
        g.lacks('NonZero of an array without axes')
    return g.op('NonZero', [g.to(a, bool)])


@row('argwhere')
def _(g: RoutineWriter, a: Operand) -> str:
    return g.transpose(found_places(g, a), [1, 0])


@row('flatnonzero')
def _(g: RoutineWriter, a: Operand) -> str:
    flat = g.reshape(g.to(a, bool), [-1])
    g.need(9, 'NonZero')
    return g.squeeze(g.op('NonZero', [flat]), [0])
