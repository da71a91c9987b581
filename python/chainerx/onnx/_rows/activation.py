"""Activation functions."""

from __future__ import annotations

import typing as tp

from chainerx.onnx import _compositions
from chainerx.onnx._formula import Expression, formula
from chainerx.onnx._routine import Operand, RoutineWriter, Typed, axes_of, axis_of, row


@row('relu', '_relu')
def _(g: RoutineWriter, x: tp.Any) -> Typed:
    return g.run('Relu', x)


@row('sigmoid')
def _(g: RoutineWriter, x: tp.Any) -> Typed:
    return g.run('Sigmoid', x)


@formula('silu')
def _(x: Expression) -> Expression:
    return x * x.op('Sigmoid')


@formula('swish')
def _(x: Expression, beta: Expression) -> Expression:
    return x * (x * beta).op('Sigmoid')


@row('mish')
def _(g: RoutineWriter, x: tp.Any) -> Typed:
    work = g.work_dtype('Softplus', g.dtype)
    return Typed(_compositions.mish(g, g.to(x, work)), work)


@row('gelu')
def _(g: RoutineWriter, x: tp.Any, approximate: str = 'none') -> Typed:
    work = g.work_dtype('Erf', g.dtype)
    return Typed(_compositions.gelu(g, g.to(x, work), work, approximate == 'tanh'), work)


@row('elu')
def _(g: RoutineWriter, x: tp.Any, alpha: float = 1.0) -> Typed:
    if g.dtype.name != 'float64' or alpha == 1:
        return g.run('Elu', x, alpha=float(alpha))
    a = Expression(g, g.to(x, g.dtype))  # attributes have 32 bits
    return (a < 0).where((a.op('Min', 0).op('Exp') - 1) * alpha, a).value


@row('leaky_relu')
def _(g: RoutineWriter, x: tp.Any, slope: float = 0.2) -> Typed:
    if g.dtype.name != 'float64':
        return g.run('LeakyRelu', x, alpha=float(slope))
    a = Expression(g, g.to(x, g.dtype))  # attributes have 32 bits
    return (a < 0).where(a * slope, a).value


@formula('clipped_relu')
def _(x: Expression, z: tp.Any = 20.0) -> Expression:
    return x.op('Max', 0).op('Min', z)


@formula('softplus')
def _(x: Expression, beta: tp.Any = 1.0) -> Expression:
    return (x * beta).op('Softplus') / beta


@formula('prelu')
def _(x: Expression, slope: Expression) -> Expression:
    return (x < 0).where(x * slope, x)


@row('crelu')
def _(g: RoutineWriter, x: Operand, axis: int = 1) -> Typed:
    a = Expression(g, g.to(x, g.dtype))
    parts = [a.op('Relu').value, (-a).op('Relu').value]
    return Typed(g.concat(parts, axis_of(axis, x.ndim)), g.dtype)


def _softmax(g: RoutineWriter, op: str, x: Operand, axis: tp.Any) -> Typed:
    axes = axes_of(1 if axis is None else axis, x.ndim)
    if len(axes) == 1:
        work = g.work_dtype(op, g.dtype)
        return Typed(g.flat_softmax(op, g.to(x, work), axes[0], x.ndim), work)
    a = Expression(g, g.to(x, g.dtype))
    top = Expression(g, Typed(g.reduce('Max', a.value, axes, keepdims=True), g.dtype))
    a = a - top
    powers = a.op('Exp')
    total = Expression(g, Typed(g.reduce('Sum', powers.value, axes, keepdims=True), g.dtype))
    return (powers / total if op == 'Softmax' else a - total.op('Log')).value


@row('softmax')
def _(g: RoutineWriter, x: Operand, axis: tp.Any = None) -> Typed:
    return _softmax(g, 'Softmax', x, axis)


@row('log_softmax')
def _(g: RoutineWriter, x: Operand, axis: tp.Any = None) -> Typed:
    return _softmax(g, 'LogSoftmax', x, axis)
