"""Arithmetic, reductions, products."""

from __future__ import annotations

import functools
import math
import typing as tp

import numpy as np
from chainerx.onnx import _compositions as compositions

from onnx_chainer.converters._registry import Conversion, converts, same

same(
    {
        'Absolute': 'Abs',
        'Sub': 'Sub',
        'Mul': 'Mul',
        'Div': 'Div',
        'PowVarVar': 'Pow',
        'Exp': 'Exp',
        'Log': 'Log',
        'Sqrt': 'Sqrt',
        'Sin': 'Sin',
        'Cos': 'Cos',
        'Tan': 'Tan',
        'Arcsin': 'Asin',
        'Arccos': 'Acos',
        'Arctan': 'Atan',
        '_Floor': 'Floor',
        '_Ceil': 'Ceil',
    }
)


def _since(opset: int, operators: dict[str, str]) -> None:
    for name, op in operators.items():

        def convert(g: Conversion, op: str = op) -> str:
            g.need(opset, op)
            return g.op(op, g.x)

        converts(name)(convert)


_since(9, {'_Sign': 'Sign', 'Erf': 'Erf', 'Arctanh': 'Atanh'})


@converts('BatchDet')
def batch_det(g: Conversion) -> str:
    g.need(11, 'Det')
    # As Chainer does, half precision is computed in float32.
    return g.wide(0).op('Det').cast(g.out_dtype()).name


def _extremum(name: str, op: str) -> None:
    def convert(g: Conversion) -> str:
        if g.shape(0) != g.shape(1):
            g.need(8, f'broadcasting of {op}')
        return g.op(op, g.x)

    converts(name)(convert)


_extremum('Maximum', 'Max')
_extremum('Minimum', 'Min')


@converts('Add', 'MultiAdd')
def add(g: Conversion) -> str:
    return functools.reduce(lambda a, b: g.op('Add', [a, b]), g.x)


@converts('AddConstant')
def add_constant(g: Conversion) -> str:
    return g.op('Add', [g.x[0], g.like(g.func.value)])


@converts('SubFromConstant')
def sub_from_constant(g: Conversion) -> str:
    return g.op('Sub', [g.like(g.func.value), g.x[0]])


@converts('MulConstant')
def mul_constant(g: Conversion) -> str:
    return g.op('Mul', [g.x[0], g.like(g.func.value)])


@converts('DivFromConstant')
def div_from_constant(g: Conversion) -> str:
    return g.op('Div', [g.like(g.func.value), g.x[0]])


@converts('PowVarConst')
def pow_var_const(g: Conversion) -> str:
    return g.op('Pow', [g.x[0], g.like(g.func.value)])


@converts('PowConstVar')
def pow_const_var(g: Conversion) -> str:
    return g.op('Pow', [g.like(g.func.value), g.x[0]])


@converts('Square')
def square(g: Conversion) -> str:
    return g.op('Mul', [g.x[0], g.x[0]])


@converts('Log2')
def log2(g: Conversion) -> str:
    return g.op('Div', [g.op('Log', g.x), g.like(math.log(2))])


@converts('Log10')
def log10(g: Conversion) -> str:
    return g.op('Div', [g.op('Log', g.x), g.like(math.log(10))])


@converts('Log1p')
def log1p(g: Conversion) -> str:
    return compositions.log1p(g, g.x[0], g.dtype(0))


@converts('Expm1')
def expm1(g: Conversion) -> str:
    return compositions.expm1(g, g.x[0], g.dtype(0))


@converts('Cosh')
def cosh(g: Conversion) -> str:
    return compositions.cosh(g, g.x[0], g.dtype(0))


@converts('Sinh')
def sinh(g: Conversion) -> str:
    return compositions.sinh(g, g.x[0], g.dtype(0))


@converts('Fmod')
def fmod(g: Conversion) -> str:
    g.need(10, 'Mod')
    return g.op('Mod', g.x, fmod=1)


@converts('_Fix')
def fix(g: Conversion) -> str:
    sign = g.op('Sign', g.x) if g.opset >= 9 else g.op('Div', [g.x[0], g.op('Abs', g.x)])
    return g.op('Mul', [g.op('Floor', [g.op('Abs', g.x)]), sign])


@converts('Neg')
def neg(g: Conversion) -> str:
    if g.dtype(0).kind == 'u':  # operators have no such type
        return g.op('Sub', [g.like(0), g.x[0]])
    return g.op('Neg', g.x)


@converts('_FloorDivide')
def floor_divide(g: Conversion) -> str:
    return compositions.floor_divided(g, g.x[0], g.x[1], g.dtype(0))


@converts('_FloorDivideConstant')
def floor_divide_constant(g: Conversion) -> str:
    return compositions.floor_divided(g, g.x[0], g.like(g.func.value), g.dtype(0))


@converts('_FloorDivideFromConstant')
def floor_divide_from_constant(g: Conversion) -> str:
    return compositions.floor_divided(g, g.like(g.func.value), g.x[0], g.dtype(0))


@converts('Clip')
def clip(g: Conversion) -> str:
    return g.clip(g.x[0], _number(g.func.x_min), _number(g.func.x_max), g.dtype(0))


def _number(value: tp.Any) -> float | None:
    return None if value is None else float(value)


@converts('LinearInterpolate')
def linear_interpolate(g: Conversion) -> str:
    p, x, y = g.x
    rest = g.op('Mul', [g.op('Sub', [g.like(1), p]), y])
    return g.op('Add', [g.op('Mul', [p, x]), rest])


def _axes(g: Conversion, axis: tp.Any) -> list[int] | None:
    if axis is None:
        return None
    ndim = len(g.shape(0))
    return sorted(int(i) % max(ndim, 1) for i in ((axis,) if isinstance(axis, int) else axis))


def _reduction(name: str, kind: str) -> None:
    def convert(g: Conversion) -> str:
        return g.reduce(kind, g.x[0], _axes(g, g.func.axis), getattr(g.func, 'keepdims', False))

    converts(name)(convert)


for _name, _kind in {
    'Sum': 'Sum',
    'Mean': 'Mean',
    'Prod': 'Prod',
    'Max': 'Max',
    'Min': 'Min',
    'LogSumExp': 'LogSumExp',
}.items():
    _reduction(_name, _kind)


@converts('SumTo')
def sum_to(g: Conversion) -> str:
    shape, target = g.shape(0), g.out_shape()
    lead = len(shape) - len(target)
    axes = [i for i in range(len(shape)) if i < lead or target[i - lead] != shape[i]]
    y = g.reduce('Sum', g.x[0], axes, keepdims=True)
    return g.squeeze(y, range(lead))


@converts('BatchL2NormSquared')
def batch_l2_norm_squared(g: Conversion) -> str:
    return g.reduce('SumSquare', g.x[0], range(1, len(g.shape(0))))


def _position(name: str, op: str) -> None:
    def convert(g: Conversion) -> str:
        x, axis = g.x[0], g.func.axis
        if axis is None:
            x, axis = g.reshape(x, [-1]), 0
        found = g.op(op, [x], axis=int(axis) % max(len(g.shape(0)), 1), keepdims=0)
        return g.cast(found, g.out_dtype())

    converts(name)(convert)


_position('ArgMax', 'ArgMax')
_position('ArgMin', 'ArgMin')


@converts('Cumsum')
def cumsum(g: Conversion) -> str:
    x, axis = g.x[0], g.func.axis
    if g.opset < 11 and g.dtype(0).kind != 'f':
        g.need(11, 'CumSum of integers')
    if axis is None:
        x, axis = g.reshape(x, [-1]), 0
    if g.opset < 11:
        return _cumsum_by_products(g, x, axis)
    return g.op('CumSum', [x, g.const(axis, 'axis', np.int64)])


def _cumsum_by_products(g: Conversion, x: str, axis: int) -> str:
    ndim = 1 if g.func.axis is None else len(g.shape(0))
    axis %= ndim
    n = math.prod(g.shape(0)) if g.func.axis is None else g.fixed(0, axis)
    order = [*(i for i in range(ndim) if i != axis), axis]
    y = g.op('MatMul', [g.transpose(x, order), g.like(np.triu(np.ones((n, n))))])
    return g.transpose(y, [order.index(i) for i in range(ndim)])


def _turned(g: Conversion, x: str, ndim: int, turn: bool) -> str:
    if not turn or ndim < 2:
        return x
    return g.transpose(x, [*range(ndim - 2), ndim - 1, ndim - 2])


@converts('MatMul')
def matmul(g: Conversion) -> str:
    f = g.func
    a = _turned(g, g.x[0], len(g.shape(0)), f.transa)
    b = _turned(g, g.x[1], len(g.shape(1)), f.transb)
    return _turned(g, g.op('MatMul', [a, b]), len(g.out_shape()), f.transc)


@converts('BatchMatMul')
def batch_matmul(g: Conversion) -> str:
    # Two axes are a batch of columns.
    a, b = (x if len(g.shape(i)) == 3 else g.unsqueeze(x, [2]) for i, x in enumerate(g.x))
    return g.op('MatMul', [_turned(g, a, 3, g.func.transa), _turned(g, b, 3, g.func.transb)])


@converts('EinSum')
def einsum(g: Conversion) -> str:
    g.need(12, 'Einsum')
    equation = f'{g.func.in_subs}->{g.func.out_sub}'.replace('@', '...')
    return g.op('Einsum', g.x, equation=equation)


@converts('TensorDot')
def tensordot(g: Conversion) -> str:
    first, second = len(g.shape(0)), len(g.shape(1))
    axes = g.func.axes
    if isinstance(axes, int):
        axes = (range(first - axes, first), range(axes))
    pairs = [[i] if isinstance(i, int) else list(i) for i in axes]
    left = [i % first for i in pairs[0]]
    right = [i % second for i in pairs[1]]
    kept = [i for i in range(first) if i not in left]
    rest = [i for i in range(second) if i not in right]
    n = math.prod(g.shape(0)[i] for i in left)
    a = g.reshape(g.transpose(g.x[0], kept + left), [-1, n])
    b = g.reshape(g.transpose(g.x[1], right + rest), [n, -1])
    y = g.op('MatMul', [a, b])
    if not g.is_open:
        return g.reshape(y, g.out_shape())
    return g.reshape_to(y, [g.lengths(0)[i] for i in kept] + [g.lengths(1)[i] for i in rest])


@converts('Arctan2')
def arctan2(g: Conversion) -> str:
    return compositions.arctan2(g.term(0), g.term(1)).name
