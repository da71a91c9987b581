"""Numbers: arithmetic, powers, rounding, bits."""

from __future__ import annotations

import math
import typing as tp

import numpy as np

from chainerx.onnx import _compositions
from chainerx.onnx._formula import Expression, formula
from chainerx.onnx._routine import Operand, RoutineWriter, Typed, row

_OPERATORS: tp.Final = {
    'add': ('Add', 7),
    'subtract': ('Sub', 7),
    'multiply': ('Mul', 7),
    'divide': ('Div', 7),
    'power': ('Pow', 7),
    'float_power': ('Pow', 7),
    'maximum': ('Max', 8),
    'minimum': ('Min', 8),
    'absolute': ('Abs', 7),
    'fabs': ('Abs', 7),
    'sqrt': ('Sqrt', 7),
    'exp': ('Exp', 7),
    'log': ('Log', 7),
    'sin': ('Sin', 7),
    'cos': ('Cos', 7),
    'tan': ('Tan', 7),
    'arcsin': ('Asin', 7),
    'arccos': ('Acos', 7),
    'arctan': ('Atan', 7),
    'arcsinh': ('Asinh', 9),
    'arccosh': ('Acosh', 9),
    'arctanh': ('Atanh', 9),
    'tanh': ('Tanh', 7),
    'erf': ('Erf', 9),
}


def _operator(name: str, op: str, since: int) -> None:
    def write(g: RoutineWriter, *xs: tp.Any, dtype: tp.Any = None) -> Typed:
        g.need(since, op)
        return g.run(op, *xs)

    row(name)(write)


for _name, (_op, _since) in _OPERATORS.items():
    _operator(_name, _op, _since)


@row('positive', 'conj', 'real')
def _same(g: RoutineWriter, x: tp.Any, *, dtype: tp.Any = None) -> Typed:
    return g.to(x, g.dtype)


@formula('negative')
def _(x: Expression) -> Expression:
    return -x


@formula('square')
def _(x: Expression) -> Expression:
    return x * x


@formula('reciprocal')
def _(x: Expression) -> Expression:
    return 1 / x


@formula('sign')
def _(x: Expression) -> Expression:
    x.g.need(9, 'Sign')
    if x.dtype.kind not in 'fV':
        return x.op('Sign')
    return x.is_nan().where(x, x.op('Sign'))


@formula('imag')
def _(x: Expression) -> Expression:
    return x * 0


@row('angle')
def _(g: RoutineWriter, z: tp.Any, deg: bool = False) -> Typed:
    x = Expression(g, g.to(z, g.dtype))
    return (x < 0).where(x.of(180 if deg else math.pi), 0).value


# Powers and logarithms


@formula('exp2')
def _(x: Expression) -> Expression:
    return x.of(2).op('Pow', x)


@formula('log2')
def _(x: Expression) -> Expression:
    return x.op('Log') / math.log(2)


@formula('log10')
def _(x: Expression) -> Expression:
    return x.op('Log') / math.log(10)


@formula('cbrt')
def _(x: Expression) -> Expression:
    x.g.need(9, 'Sign')
    return abs(x).op('Pow', 1 / 3) * x.op('Sign')


@formula('hypot')
def _(x1: Expression, x2: Expression) -> Expression:
    a, b = abs(x1), abs(x2)
    large, small = a.op('Max', b), a.op('Min', b)
    ratio = small / large.equal(0).where(large.of(1), large)
    found = large * (ratio * ratio + 1).op('Sqrt')
    return large.is_infinite().where(large, found)


@formula('logaddexp')
def _(x1: Expression, x2: Expression) -> Expression:
    large = x1.op('Max', x2)
    # Equal infinities have no difference.
    rest = (-abs(x1 - x2)).op('Exp') + 1
    return large.is_infinite().where(large, large + rest.op('Log'))


@formula('logaddexp2')
def _(x1: Expression, x2: Expression) -> Expression:
    large = x1.op('Max', x2)
    rest = x1.of(2).op('Pow', -abs(x1 - x2)) + 1
    return large.is_infinite().where(large, large + rest.op('Log') / math.log(2))


@formula('degrees')
def _(x: Expression) -> Expression:
    return x * (180 / math.pi)


@formula('radians')
def _(x: Expression) -> Expression:
    return x * (math.pi / 180)


@formula('sinc')
def _(x: Expression) -> Expression:
    y = x * math.pi
    is_zero = y.equal(0)
    return is_zero.where(y.of(1), y.op('Sin') / is_zero.where(y.of(1), y))


def _composition(name: str, op: str, function: tp.Any) -> None:
    def write(g: RoutineWriter, x: tp.Any, *, dtype: tp.Any = None) -> Typed:
        work = g.work_dtype(op if g.opset >= 9 else 'Exp', g.dtype)
        return Typed(function(g, g.to(x, work), work), work)

    row(name)(write)


_composition('log1p', 'Log', _compositions.log1p)
_composition('expm1', 'Sinh', _compositions.expm1)
_composition('cosh', 'Cosh', _compositions.cosh)
_composition('sinh', 'Sinh', _compositions.sinh)


@formula('arctan2')
def _(x1: Expression, x2: Expression) -> Expression:
    return tp.cast(Expression, _compositions.arctan2(x1, x2))


# Division


def _quotient(a: Expression, b: Expression) -> Expression:
    """Rounded down, as it is for the rest that `remainder` gives."""
    if a.dtype.kind in 'fV':
        a.g.need(11, 'Round')
        exact = ((a - a.remainder(b)) / b).op('Round')
        return b.equal(0).where(a / b, exact)
    work = a.g.work_dtype('Div', a.dtype)
    x, y = a.cast(work), b.cast(work)
    found = _compositions.floor_divided(a.g, x.value, y.value, work)
    return Expression(a.g, Typed(found, work)).cast(a.dtype)


@formula('floor_divide')
def _(x1: Expression, x2: Expression) -> Expression:
    return _quotient(x1, x2)


@formula('remainder')
def _(x1: Expression, x2: Expression) -> Expression:
    return x1.remainder(x2)


@formula('divmod')
def _(x1: Expression, x2: Expression) -> tuple[Expression, Expression]:
    return _quotient(x1, x2), x1.remainder(x2)


@formula('fmod')
def _(x1: Expression, x2: Expression) -> Expression:
    x1.g.need(10, 'Mod')
    return x1.op('Mod', x2, fmod=1)


@formula('gcd')
def _(x1: Expression, x2: Expression) -> Expression:
    x1.g.lacks('greatest common divisor')


# Rounding


@formula('floor')
def _(x: Expression) -> Expression:
    return x.floor()


@formula('ceil')
def _(x: Expression) -> Expression:
    return x.op('Ceil') if x.dtype.kind in 'fV' else x


@formula('trunc', 'fix')
def _(x: Expression) -> Expression:
    return x.truncated()


def _rounded(x: Expression) -> Expression:
    if x.dtype.kind not in 'fV':
        return x
    x.g.need(11, 'Round')
    return x.op('Round')


@formula('rint')
def _(x: Expression) -> Expression:
    return _rounded(x)


@row('round')
def _(g: RoutineWriter, a: tp.Any, decimals: int = 0) -> Typed:
    x = Expression(g, g.to(a, g.dtype))
    if decimals == 0:
        return _rounded(x).value
    scale = 10.0 ** abs(decimals)
    if x.dtype.kind not in 'fV':
        if decimals > 0:
            return x.value
        wide = x.cast(np.float64)
        return (_rounded(wide / scale) * scale).cast(g.dtype).value
    found = _rounded(x * scale) / scale if decimals > 0 else _rounded(x / scale) * scale
    return found.value


@formula('modf')
def _(x: Expression) -> tuple[Expression, Expression]:
    whole = x.truncated()
    return x.is_infinite().where(x.of(0), x - whole), whole


@row('ldexp')
def _(g: RoutineWriter, x1: tp.Any, x2: tp.Any) -> Typed:
    power = g.run('Pow', 2, x2)
    return g.run('Mul', x1, power)


# Selection


@formula('fmax')
def _(x1: Expression, x2: Expression) -> Expression:
    return x1.is_nan().where(x2, x2.is_nan().where(x1, x1.op('Max', x2)))


@formula('fmin')
def _(x1: Expression, x2: Expression) -> Expression:
    return x1.is_nan().where(x2, x2.is_nan().where(x1, x1.op('Min', x2)))


@formula('heaviside')
def _(x1: Expression, x2: Expression) -> Expression:
    found = (x1 < 0).where(x1.of(0), x1.equal(0).where(x2, 1))
    return x1.is_nan().where(x1, found)


@row('clip')
def _(
    g: RoutineWriter,
    a: Operand,
    min: tp.Any = None,
    max: tp.Any = None,
    *,
    a_min: tp.Any = None,
    a_max: tp.Any = None,
) -> Typed:
    y = g.to(a, g.dtype)
    for op, bound in (
        ('Max', a_min if min is None else min),
        ('Min', a_max if max is None else max),
    ):
        if bound is None:
            continue
        if g.dtype.kind in 'iu' and isinstance(bound, (int, np.integer)):
            limits = np.iinfo(g.dtype)
            bound = np.clip(int(bound), limits.min, limits.max)
        y = g.run(op, y, bound)
    return y


def _is_negative(x: Expression) -> Expression:
    """The sign bit, save that of nan."""
    return (x < 0) | (x.equal(0) & ((1 / x) < 0)) if x.dtype.kind in 'fV' else x < 0


@formula('copysign')
def _(x1: Expression, x2: Expression) -> Expression:
    size = abs(x1)
    return _is_negative(x2).where(-size, size)


@formula('signbit', of='first')
def _(x: Expression) -> Expression:
    return _is_negative(x)


@row('nan_to_num')
def _(
    g: RoutineWriter,
    x: Operand,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Typed:
    a = Expression(g, g.to(x, g.dtype))
    if not copy:
        g.lacks('writes to an argument')
    if a.dtype.kind not in 'fV':
        return a.value
    import chainerx

    limit = float(chainerx.finfo(g.dtype).max)
    a = a.is_nan().where(a.of(nan), a)
    a = a.is_infinite(1).where(a.of(limit if posinf is None else posinf), a)
    return a.is_infinite(-1).where(a.of(-limit if neginf is None else neginf), a).value


# Bits


def _bits(name: str, op: str, logical: str) -> None:
    def write(g: RoutineWriter, *xs: tp.Any, dtype: tp.Any = None) -> Typed:
        if g.dtype == bool:
            return g.run(logical, *xs)
        g.need(18, op)
        return g.run(op, *xs)

    row(name)(write)


for _name, _op, _logical in (
    ('bitwise_and', 'BitwiseAnd', 'And'),
    ('bitwise_or', 'BitwiseOr', 'Or'),
    ('bitwise_xor', 'BitwiseXor', 'Xor'),
):
    _bits(_name, _op, _logical)


@formula('invert')
def _(x: Expression) -> Expression:
    if x.dtype == bool:
        return ~x
    # Of two's complement; unsigned ones wrap.
    return -1 - x if x.dtype.kind == 'i' else x.of(np.iinfo(x.dtype).max) - x


@row('left_shift')
def _(g: RoutineWriter, x1: tp.Any, x2: tp.Any, *, dtype: tp.Any = None) -> Typed:
    if g.dtype.name in ('uint32', 'uint64'):
        g.need(11, 'BitShift')
        names = [g.to(x1, g.dtype), g.to(x2, g.dtype)]
        return Typed(g.op('BitShift', names, direction='LEFT'), g.dtype)
    power = g.run('Pow', g.to(2, np.int64), x2, dtype=np.int64)
    return g.to(g.run('Mul', x1, power, dtype=np.int64), g.dtype)


@row('right_shift')
def _(g: RoutineWriter, x1: tp.Any, x2: tp.Any, *, dtype: tp.Any = None) -> Typed:
    if g.dtype.name in ('uint32', 'uint64'):
        g.need(11, 'BitShift')
        names = [g.to(x1, g.dtype), g.to(x2, g.dtype)]
        return Typed(g.op('BitShift', names, direction='RIGHT'), g.dtype)
    wide = np.dtype(np.int64)
    power = g.run('Pow', g.to(2, wide), x2, dtype=wide)
    found = _compositions.floor_divided(g, g.to(x1, wide), power, wide)
    return g.to(Typed(found, wide), g.dtype)
