"""Products, norms, determinants."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainerx as chx
from chainerx.onnx import _loops
from chainerx.onnx._routine import Operand, RoutineWriter, Typed, axes_of, axis_of, composed, row
from chainerx.onnx._terms import Term


@row('matmul')
def _(g: RoutineWriter, x1: tp.Any, x2: tp.Any, *, dtype: tp.Any = None) -> Typed:
    return g.run('MatMul', x1, x2)


@row('linear')
def _(g: RoutineWriter, x: Operand, w: Operand, b: tp.Any = None, n_batch_axes: int = 1) -> Typed:
    rows = list(x.shape[:n_batch_axes])
    if g.dtype.kind in 'iub':  # of which runtimes have products, but no Gemm
        return _linear_of_integers(g, x, w, b, n_batch_axes)
    work = g.work_dtype('Gemm', g.dtype)
    name: str = g.to(x, work)
    if len(rows) != 1 or x.ndim != 2:
        name = g.reshape(name, [-1, int(w.shape[1])])
    parts = [name, g.to(w, work)]
    if b is not None:
        parts.append(g.to(b, work))
    elif g.opset < 11:
        parts.append(g.const(np.zeros(int(w.shape[0])), 'bias', work))
    y = g.op('Gemm', parts, transB=1)
    return Typed(y if len(rows) == 1 else g.shaped(y, [*rows, int(w.shape[0])]), work)


def _linear_of_integers(
    g: RoutineWriter, x: Operand, w: Operand, b: tp.Any, n_batch_axes: int
) -> Typed:
    rows = list(x.shape[:n_batch_axes])
    name = Typed(g.reshape(g.to(x, g.dtype), [-1, int(w.shape[1])]), g.dtype)
    turned = Typed(g.transpose(g.to(w, g.dtype), [1, 0]), g.dtype)
    y = g.run('MatMul', name, turned)
    y = y if b is None else g.run('Add', y, b)
    return Typed(g.shaped(y, [*rows, int(w.shape[0])]), g.dtype)


@row('einsum')
def _(g: RoutineWriter, *operands: tp.Any, optimize: tp.Any = False, dtype: tp.Any = None) -> Typed:
    g.need(12, 'Einsum')
    if not isinstance(operands[0], str):
        g.lacks('Einsum without a string')
    equation = operands[0].replace(' ', '')
    _check_equation(g, equation.split('->')[0].split(','), operands[1:])
    if '->' not in equation:
        letters = equation.replace(',', '').replace('...', '')
        once = sorted(c for c in set(letters) if letters.count(c) == 1)
        equation += '->' + ('...' if '...' in equation else '') + ''.join(once)
    return g.run('Einsum', *operands[1:], equation=equation)


def _check_equation(g: RoutineWriter, parts: list[str], xs: tp.Sequence[Operand]) -> None:
    """Raises where lengths of 1, or dots, broadcast, which the operator does not."""
    known: dict[str, tp.Any] = {}
    dots = {x.ndim - len(p.replace('...', '')) for p, x in zip(parts, xs, strict=True) if '.' in p}
    for part, x in zip(parts, xs, strict=True):
        letters = part.replace('...', '')
        if '.' in part or len(letters) != x.ndim:
            continue
        for letter, n in zip(letters, x.shape, strict=True):
            if known.setdefault(letter, n) != n:
                g.lacks('Einsum that broadcasts', 'use matmul, or broadcast before')
    if len(dots) > 1:
        g.lacks('Einsum whose dots are other numbers of axes', 'use expand_dims before')


@composed('dot')
def _(a: tp.Any, b: tp.Any) -> tp.Any:
    a, b = (x if isinstance(x, chx.ndarray) else chx.asarray(x) for x in (a, b))
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if b.ndim <= 2:
        return chx.matmul(a, b)
    return chx.tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2,)))


@composed('inner')
def _(a: tp.Any, b: tp.Any) -> tp.Any:
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return chx.tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


@composed('outer', 'linalg.outer')
def _(a: tp.Any, b: tp.Any) -> tp.Any:
    return chx.reshape(a, (-1, 1)) * chx.reshape(b, (1, -1))


@composed('vdot')
def _(a: tp.Any, b: tp.Any) -> tp.Any:
    return chx.matmul(chx.reshape(a, (-1,)), chx.reshape(b, (-1,)))


@composed('vecdot', 'linalg.vecdot')
def _(x1: tp.Any, x2: tp.Any, axis: int = -1, *, dtype: tp.Any = None) -> tp.Any:
    a, b = chx.moveaxis(x1, axis, -1), chx.moveaxis(x2, axis, -1)
    y = chx.matmul(chx.expand_dims(a, -2), chx.expand_dims(b, -1), dtype=dtype)
    return chx.squeeze(y, (-2, -1))


@composed('matvec')
def _(x1: tp.Any, x2: tp.Any, *, dtype: tp.Any = None) -> tp.Any:
    return chx.squeeze(chx.matmul(x1, chx.expand_dims(x2, -1), dtype=dtype), -1)


@composed('vecmat')
def _(x1: tp.Any, x2: tp.Any, *, dtype: tp.Any = None) -> tp.Any:
    return chx.squeeze(chx.matmul(chx.expand_dims(x1, -2), x2, dtype=dtype), -2)


@composed('tensordot', 'linalg.tensordot')
def _tensordot(a: tp.Any, b: tp.Any, axes: tp.Any = 2) -> tp.Any:
    if isinstance(axes, int):
        axes = (range(a.ndim - axes, a.ndim), range(axes))
    pairs = [[i] if isinstance(i, int) else list(i) for i in axes]
    left = [axis_of(i, a.ndim) for i in pairs[0]]
    right = [axis_of(i, b.ndim) for i in pairs[1]]
    kept = [i for i in range(a.ndim) if i not in left]
    rest = [i for i in range(b.ndim) if i not in right]
    shape = (*[a.shape[i] for i in kept], *[b.shape[i] for i in rest])
    n = 1
    for i in left:
        n = n * a.shape[i]
    first, second = 1, 1
    for i in kept:
        first = first * a.shape[i]
    for i in rest:
        second = second * b.shape[i]
    matrix = chx.reshape(chx.transpose(a, (*kept, *left)), (first, n))
    other = chx.reshape(chx.transpose(b, (*right, *rest)), (n, second))
    return chx.reshape(chx.matmul(matrix, other), shape)


@composed('linalg.multi_dot')
def _(arrays: tp.Any) -> tp.Any:
    y = arrays[0]
    for x in arrays[1:]:
        y = chx.matmul(y, x)
    return y


@composed('linalg.matrix_power')
def _(a: tp.Any, n: int) -> tp.Any:
    if n < 1:
        raise ValueError(f'export: linalg.matrix_power: n is {n}, ONNX has no inverse')
    y = a
    for _ in range(n - 1):
        y = chx.matmul(y, a)
    return y


@composed('kron')
def _(a: tp.Any, b: tp.Any) -> tp.Any:
    n = max(a.ndim, b.ndim)
    a = chx.reshape(a, (*(1,) * (n - a.ndim), *a.shape))
    b = chx.reshape(b, (*(1,) * (n - b.ndim), *b.shape))
    wide = chx.expand_dims(a, tuple(range(1, 2 * n, 2))) * chx.expand_dims(
        b, tuple(range(0, 2 * n, 2))
    )
    return chx.reshape(wide, tuple([p * q for p, q in zip(a.shape, b.shape, strict=True)]))


@composed('cross')
def _cross(
    a: tp.Any, b: tp.Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> tp.Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = chx.moveaxis(a, axisa, -1), chx.moveaxis(b, axisb, -1)
    n, m = int(a.shape[-1]), int(b.shape[-1])
    xs, ys = [a[..., i] for i in range(n)], [b[..., i] for i in range(m)]
    last = xs[0] * ys[1] - xs[1] * ys[0]
    if n == m == 2:
        return last
    xs = xs if n == 3 else [*xs, chx.zeros_like(xs[0])]
    ys = ys if m == 3 else [*ys, chx.zeros_like(ys[0])]
    first = xs[1] * ys[2] - xs[2] * ys[1]
    second = xs[2] * ys[0] - xs[0] * ys[2]
    return chx.moveaxis(chx.stack([first, second, last], -1), -1, axisc)


@composed('linalg.cross')
def _(x1: tp.Any, x2: tp.Any, *, axis: int = -1) -> tp.Any:
    return _cross(x1, x2, axis=axis)


@row('linalg.det')
def _(g: RoutineWriter, a: Operand) -> Typed:
    g.need(11, 'Det')
    return g.run('Det', a)


def _wide(g: RoutineWriter, a: Operand) -> Term:
    return Term(g, g.to(a, np.float64), np.float64)


@row('linalg.inv')
def _(g: RoutineWriter, a: Operand) -> Typed:
    n = a.shape[-1]
    if type(n) is not int or n == 0:
        g.lacks('inverse of matrices of any size')
    flat = _wide(g, a)
    if a.ndim != 3:
        flat = Term(g, g.reshape(flat.name, [-1, n, n]), flat.dtype)
    y = _loops.inverse(g, flat, n)
    return Typed(y.name if a.ndim == 3 else g.shaped(y.name, a.shape), y.dtype)


@row('linalg.cholesky')
def _(g: RoutineWriter, a: Operand, *, upper: bool = False) -> Typed:
    n = a.shape[-1]
    if type(n) is not int or n == 0 or a.ndim != 2:
        g.lacks('Cholesky factors of batches')
    whole = _wide(g, a)  # of which the lower triangle is read
    whole = Term(g, g.transpose(whole.name, [1, 0]), whole.dtype) if upper else whole
    y = _loops.cholesky(g, whole, n)
    return Typed(g.transpose(y.name, [1, 0]) if upper else y.name, y.dtype)


@composed('linalg.solve')
def _(a: tp.Any, b: tp.Any) -> tp.Any:
    a, b = (x if x.dtype.kind in 'fV' else x.astype('float32') for x in (a, b))
    inverse = chx.linalg.inv(a.astype('float64'))
    wide = b.astype('float64')
    if b.ndim == 1:
        return chx.squeeze(chx.matmul(inverse, chx.expand_dims(wide, 1)), -1)
    return chx.matmul(inverse, wide)


# Norms


def _vector_norm(x: tp.Any, axes: tuple[int, ...], ord: tp.Any, keepdims: bool) -> tp.Any:
    x = x if x.dtype.kind in 'fV' else x.astype('float32')
    size = chx.absolute(x)
    if ord in (None, 2):
        return chx.sqrt(chx.sum(chx.square(x), axes, keepdims))
    if ord == 1:
        return chx.sum(size, axes, keepdims)
    if ord == np.inf:
        return chx.amax(size, axes, keepdims)
    if ord == -np.inf:
        return chx.amin(size, axes, keepdims)
    if ord == 0:
        return chx.sum((x != 0).astype(x.dtype), axes, keepdims)
    return chx.power(chx.sum(chx.power(size, ord), axes, keepdims), 1 / ord)


def _matrix_norm(x: tp.Any, axes: tuple[int, ...], ord: tp.Any, keepdims: bool) -> tp.Any:
    if ord in (None, 'fro'):
        return _vector_norm(x, axes, 2, keepdims)
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError(f'export: norm: ONNX has no singular values for ord {ord!r}')
    x = x if x.dtype.kind in 'fV' else x.astype('float32')
    summed, chosen = (axes[0], axes[1]) if abs(ord) == 1 else (axes[1], axes[0])
    sums = chx.sum(chx.absolute(x), summed, True)
    y = chx.amax(sums, chosen, True) if ord > 0 else chx.amin(sums, chosen, True)
    return y if keepdims else chx.squeeze(y, axes)


@composed('linalg.norm')
def _(x: tp.Any, ord: tp.Any = None, axis: tp.Any = None, keepdims: bool = False) -> tp.Any:
    axes = axes_of(axis, x.ndim)
    if isinstance(axis, (tuple, list)):
        axes = [axis_of(i, x.ndim) for i in axis]
    if ord is None or len(axes) == 1:
        return _vector_norm(x, tuple(axes), ord, keepdims)
    return _matrix_norm(x, tuple(axes), ord, keepdims)


@composed('linalg.vector_norm')
def _(x: tp.Any, *, axis: tp.Any = None, ord: tp.Any = 2, keepdims: bool = False) -> tp.Any:
    return _vector_norm(x, tuple(axes_of(axis, x.ndim)), ord, keepdims)


@composed('linalg.matrix_norm')
def _(x: tp.Any, *, ord: tp.Any = 'fro', keepdims: bool = False) -> tp.Any:
    return _matrix_norm(x, (x.ndim - 2, x.ndim - 1), ord, keepdims)
