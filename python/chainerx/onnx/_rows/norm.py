"""Normalizations."""

from __future__ import annotations

import typing as tp

import chainerx as chx
from chainerx.onnx._routine import Operand, RoutineWriter, Typed, axes_of, composed, row


def _wide(x: tp.Any) -> tp.Any:
    """In the dtype of statistics."""
    return x if x.dtype.name == 'float64' else x.astype('float32', copy=False)


def _along(p: tp.Any, x: tp.Any, axes: tp.Sequence[int]) -> tp.Any:
    """A parameter with axes of length 1 where it has none of x."""
    if p is None:
        return None
    p = p.astype(x.dtype, copy=False)
    return p if p.ndim == x.ndim else chx.expand_dims(p, tuple(axes))


def _scaled(y: tp.Any, gamma: tp.Any, beta: tp.Any) -> tp.Any:
    y = y if gamma is None else y * gamma
    return y if beta is None else y + beta


def _normalized(a: tp.Any, axes: tuple[int, ...], eps: float) -> tp.Any:
    centered = a - chx.mean(a, axes, keepdims=True)
    variance = chx.mean(chx.square(centered), axes, keepdims=True)
    return centered / chx.sqrt(variance + eps)


@row('fixed_batch_norm')
def _(
    g: RoutineWriter,
    x: Operand,
    gamma: Operand,
    beta: Operand,
    mean: Operand,
    var: Operand,
    eps: float = 2e-5,
    axis: tp.Any = None,
) -> Typed:
    axes = axes_of(0 if axis is None else axis, x.ndim)
    work = g.work_dtype('BatchNormalization', g.dtype)
    names = [g.to(p, work) for p in (gamma, beta, mean, var)]
    # Attributes have 32 bits.
    is_plain = axes == [i for i in range(x.ndim) if i != 1] and work.name != 'float64'
    if is_plain and gamma.ndim == 1:
        y = g.op('BatchNormalization', [g.to(x, work), *names], epsilon=float(eps))
        return Typed(y, work)
    shaped = [
        n if p.ndim == x.ndim else g.unsqueeze(n, axes)
        for n, p in zip(names, (gamma, beta, mean, var), strict=True)
    ]
    std = g.op('Sqrt', [g.op('Add', [shaped[3], g.const(eps, 'eps', work)])])
    y = g.op('Div', [g.op('Sub', [g.to(x, work), shaped[2]]), std])
    return Typed(g.op('Add', [g.op('Mul', [y, shaped[0]]), shaped[1]]), work)


@composed('batch_norm')
def _(
    x: tp.Any,
    gamma: tp.Any,
    beta: tp.Any,
    running_mean: tp.Any,
    running_var: tp.Any,
    eps: float = 2e-5,
    decay: float = 0.9,
    axis: tp.Any = None,
) -> tp.Any:
    axes = axes_of(0 if axis is None else axis, x.ndim)
    a = _wide(x)
    y = _normalized(a, tuple(axes), eps)
    return _scaled(y, _along(gamma, a, axes), _along(beta, a, axes))


@composed('layer_norm')
def _(x: tp.Any, gamma: tp.Any, beta: tp.Any, eps: float = 1e-5, axis: tp.Any = None) -> tp.Any:
    last = tuple(range(x.ndim - gamma.ndim, x.ndim))
    axes = tuple(axes_of(last if axis is None else axis, x.ndim))
    rest = [i for i in range(x.ndim) if i not in axes]
    a = _wide(x)
    return _scaled(_normalized(a, axes, eps), _along(gamma, a, rest), _along(beta, a, rest))


@composed('rms_norm')
def _(x: tp.Any, gamma: tp.Any = None, eps: float = 1e-6, axis: tp.Any = None) -> tp.Any:
    n = 1 if gamma is None else gamma.ndim
    axes = tuple(axes_of(tuple(range(x.ndim - n, x.ndim)) if axis is None else axis, x.ndim))
    rest = [i for i in range(x.ndim) if i not in axes]
    a = _wide(x)
    y = a / chx.sqrt(chx.mean(chx.square(a), axes, keepdims=True) + eps)
    return _scaled(y, _along(gamma, a, rest), None)


@composed('group_norm')
def _group_norm(x: tp.Any, groups: int, gamma: tp.Any, beta: tp.Any, eps: float = 1e-5) -> tp.Any:
    n, channels, *rest = x.shape
    a = _wide(x)
    parts = chx.reshape(a, (n, groups, channels // groups, *rest))
    y = _normalized(parts, tuple(range(2, x.ndim + 1)), eps)
    axes = [0, *range(2, x.ndim)]
    return _scaled(chx.reshape(y, x.shape), _along(gamma, a, axes), _along(beta, a, axes))


@composed('instance_norm')
def _(x: tp.Any, gamma: tp.Any = None, beta: tp.Any = None, eps: float = 1e-5) -> tp.Any:
    a = _wide(x)
    axes = [0, *range(2, x.ndim)]
    y = _normalized(a, tuple(range(2, x.ndim)), eps)
    return _scaled(y, _along(gamma, a, axes), _along(beta, a, axes))


@row('local_response_normalization')
def _(
    g: RoutineWriter,
    x: Operand,
    n: int = 5,
    k: float = 2,
    alpha: float = 1e-4,
    beta: float = 0.75,
) -> Typed:
    # The operator divides alpha by the size of the window, which is odd.
    size = 2 * (int(n) // 2) + 1
    if x.ndim != 4 or alpha <= 0 or beta <= 0:  # which runtimes refuse
        return _of_neighbors(g, x, size, k, alpha, beta)
    work = g.work_dtype('LRN', g.dtype)
    y = g.op(
        'LRN',
        [g.to(x, work)],
        size=size,
        alpha=float(alpha) * size,
        beta=float(beta),
        bias=float(k),
    )
    return Typed(y, work)


def _of_neighbors(
    g: RoutineWriter, x: Operand, size: int, k: float, alpha: float, beta: float
) -> Typed:
    dtype = g.dtype
    a = g.to(x, dtype)
    half = size // 2
    pads = [0] * (2 * x.ndim)
    pads[1] = pads[x.ndim + 1] = half
    squares = g.pad(g.op('Mul', [a, a]), pads, 0, dtype)
    parts = [
        g.slice(squares, [i], [i - size + 1 if i < size - 1 else 2**62], [1]) for i in range(size)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = g.op('Add', [total, part])
    scale = g.run('Pow', g.run('Add', g.run('Mul', Typed(total, dtype), alpha), k), beta)
    return g.run('Div', a, scale)
