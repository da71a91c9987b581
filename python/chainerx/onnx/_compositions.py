"""Functions that are several operators, of values of one dtype."""

from __future__ import annotations

import math
import typing as tp

if tp.TYPE_CHECKING:
    import numpy as np

    from chainerx.onnx._terms import Term
    from chainerx.onnx._writer import Writer


def floor_divided(g: Writer, a: str, b: str, dtype: np.dtype) -> str:
    """The quotient, rounded down."""
    quotient = g.op('Div', [a, b])
    if dtype.kind in 'fV':  # bfloat16 is a V
        return g.op('Floor', [quotient])
    if dtype.kind == 'u':
        return quotient
    g.need(9, 'Less of integers')
    # Integers are divided towards 0; a rest with the sign that b has not is one less.
    rest = g.op('Sub', [a, g.op('Mul', [quotient, b])])
    zero = g.const(0, 'value', dtype)
    is_other = g.op('Xor', [g.op('Less', [rest, zero]), g.op('Less', [b, zero])])
    has_rest = g.op('Not', [g.op('Equal', [rest, zero])])
    return g.op('Sub', [quotient, g.cast(g.op('And', [has_rest, is_other]), dtype)])


def log1p(g: Writer, x: str, dtype: np.dtype) -> str:
    """log(1 + x)."""
    # log(u) x / (u - 1) for u = 1 + x, which has the rounding error of u in both.
    one = g.const(1, 'value', dtype)
    u = g.op('Add', [x, one])
    near = g.op('Sub', [u, one])
    is_tiny = g.op('Not', [g.cast(near, bool)])
    ratio = g.op('Div', [x, g.where(is_tiny, one, near)])
    return g.where(is_tiny, x, g.op('Mul', [g.op('Log', [u]), ratio]))


def expm1(g: Writer, x: str, dtype: np.dtype) -> str:
    """exp(x) - 1."""
    # 2 sinh(x / 2) exp(x / 2) loses nothing near 0.
    g.need(9, 'Sinh')
    half = g.op('Mul', [x, g.const(0.5, 'value', dtype)])
    twice = g.op('Mul', [g.op('Sinh', [half]), g.const(2, 'value', dtype)])
    return g.op('Mul', [twice, g.op('Exp', [half])])


def cosh(g: Writer, x: str, dtype: np.dtype) -> str:
    """cosh(x)."""
    if g.opset >= 9:
        return g.op('Cosh', [x])
    both = g.op('Add', [g.op('Exp', [x]), g.op('Exp', [g.op('Neg', [x])])])
    return g.op('Mul', [both, g.const(0.5, 'value', dtype)])


def sinh(g: Writer, x: str, dtype: np.dtype) -> str:
    """sinh(x)."""
    if g.opset >= 9:
        return g.op('Sinh', [x])
    both = g.op('Sub', [g.op('Exp', [x]), g.op('Exp', [g.op('Neg', [x])])])
    return g.op('Mul', [both, g.const(0.5, 'value', dtype)])


def arctan2(y: Term, x: Term) -> Term:
    """The angle of the point (x, y)."""
    y.g.need(9, 'Where')
    # The smaller one is divided by the larger one: both are 0, or the quotient is at most 1.
    is_steep = y.abs() > x.abs()
    below = is_steep.where(y, x)
    quotient = is_steep.where(x, y) / below.cast(bool).where(below, 1)
    angle = quotient.op('Atan')
    is_negative = y < 0
    steep = is_negative.where(-math.pi / 2, y.of(math.pi / 2)) - angle
    turned = angle + is_negative.where(-math.pi, y.of(math.pi))
    return is_steep.where(steep, (x < 0).where(turned, angle))


def gelu(g: Writer, x: str, dtype: np.dtype, is_tanh: bool) -> str:
    """The Gaussian error linear unit."""
    if g.opset >= 20 and dtype.name != 'float64':  # of which runtimes have few digits
        return g.op('Gelu', [x], approximate='tanh' if is_tanh else 'none')

    def number(value: float) -> str:
        return g.const(value, 'value', dtype)

    half = g.op('Mul', [x, number(0.5)])
    if is_tanh:
        cube = g.op('Mul', [g.op('Mul', [x, x]), x])
        inner = g.op('Add', [x, g.op('Mul', [cube, number(0.044715)])])
        grown = g.op('Tanh', [g.op('Mul', [inner, number(math.sqrt(2 / math.pi))])])
    else:
        g.need(9, 'Erf')
        grown = g.op('Erf', [g.op('Mul', [x, number(math.sqrt(0.5))])])
    return g.op('Mul', [half, g.op('Add', [grown, number(1)])])


def mish(g: Writer, x: str) -> str:
    """x tanh(softplus(x))."""
    if g.opset >= 18:
        return g.op('Mish', [x])
    return g.op('Mul', [x, g.op('Tanh', [g.op('Softplus', [x])])])
