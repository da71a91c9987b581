"""Batching rules of chainerx.linalg and of Fourier transforms."""

from __future__ import annotations

import collections.abc as c
import typing as tp

import chainerx
from chainerx.func._batch import Level, composed, full, lift, rule
from chainerx.func._rules_axes import _flat, _size, axes_of, axis_of

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Axis, Operand, Routine, ShapeLike

# ---- matrices ------------------------------------------------------------------------------------


@rule('linalg.inv', 'linalg.det', 'linalg.slogdet', 'linalg.cholesky', 'linalg.svd')
@rule('linalg.svdvals', 'linalg.eig', 'linalg.eigh', 'linalg.eigvals', 'linalg.eigvalsh')
@rule('linalg.qr', 'linalg.pinv', 'linalg.matrix_rank', 'linalg.matrix_power', 'linalg.cond')
@rule('linalg.matrix_norm', 'linalg.matrix_transpose', 'matrix_transpose', 'linalg.diagonal')
@rule('linalg.trace')
def _of_matrices(
    level: Level, function: Routine, a: Operand = None, *args: Argument, **kw: Argument
) -> Operand:
    """Matrices are the last two axes, so an additional leading axis changes nothing."""
    for name in ('x', 'A'):
        a = kw.pop(name, a)
    if a.ndim < 2 and function.__name__ == 'matrix_rank':
        found = _flat(a.array) != 0  # the nonzero elements of a vector
        return chainerx.any(found, 1).astype('int64')
    if a.ndim < 2:
        raise chainerx.DimensionError(
            f'{function.__name__}: a has {a.ndim} axes, expected 2 or more'
        )
    if function.__name__ in ('pinv', 'matrix_rank'):  # whose tolerances may be batches, too
        args = tuple([lift(x, level, a.ndim - 2) for x in args])
        kw = {name: lift(x, level, a.ndim - 2) for name, x in kw.items()}
        return function(full(a, level), *args, **kw)
    return function(a.array, *args, **kw)


@rule('linalg.solve')
def _solve(level: Level, function: Routine, a: Operand, b: Operand) -> Operand:
    if a.ndim < 2 or b.ndim < 1:
        raise chainerx.DimensionError(
            f'solve: shapes {a.shape} and {b.shape}, expected matrices, and a vector or matrices'
        )
    vector = b.ndim == 1
    if vector:
        b = chainerx.expand_dims(b, 1)
    ndim = max(a.ndim, b.ndim)
    y = function(lift(a, level, ndim), lift(b, level, ndim))
    return chainerx.squeeze(y, -1) if vector else y


@rule('fft.fft', 'fft.ifft', 'fft.rfft', 'fft.irfft', 'fft.hfft', 'fft.ihfft')
def _fourier(
    level: Level,
    function: Routine,
    a: Operand,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
) -> Operand:
    return function(a.array, n, axis_of(function.__name__, axis, a.ndim), norm)


@rule('fft.fftn', 'fft.ifftn', 'fft.rfftn', 'fft.irfftn')
def _fourier_n(
    level: Level,
    function: Routine,
    a: Operand,
    s: c.Sequence[int] | None = None,
    axes: Axis | None = None,
    norm: str | None = None,
) -> Operand:
    if axes is None:
        axes = tuple(range(-(a.ndim if s is None else len(s)), 0))
    return function(a.array, s, axes_of(function.__name__, axes, a.ndim), norm)


@rule('fft.fft2', 'fft.ifft2', 'fft.rfft2', 'fft.irfft2')
def _fourier_2(
    level: Level,
    function: Routine,
    a: Operand,
    s: ShapeLike | None = None,
    axes: Axis = (-2, -1),
    norm: str | None = None,
) -> Operand:
    return function(a.array, s, axes_of(function.__name__, axes, a.ndim), norm)


@rule('fft.fftshift', 'fft.ifftshift')
def _shift(level: Level, function: Routine, x: Operand, axes: Axis | None = None) -> Operand:
    return function(x.array, axes_of(function.__name__, axes, x.ndim))


# ---- norms and equations ------------------------------------------------------------------------


@rule('linalg.norm')
def _norm(
    level: Level,
    function: Routine,
    x: Operand,
    ord: float | str | None = None,
    axis: Argument | None = None,
    keepdims: bool = False,
) -> Operand:
    if axis is None:
        if ord is None:
            return _of_all(level, x, lambda flat: function(flat, None, 1), keepdims)
        if x.ndim not in (1, 2):
            raise chainerx.DimensionError(f'norm: x has {x.ndim} axes, expected 1 or 2 for ord')
        axis = tuple(range(-x.ndim, 0)) if x.ndim == 2 else -1
    elif isinstance(axis, (tuple, list)):
        axis = axes_of('norm', axis, x.ndim)
    else:
        axis = axis_of('norm', axis, x.ndim)
    return function(x.array, ord, axis, keepdims)


def _of_all(
    level: Level, x: Operand, norm: c.Callable[[Operand], Operand], keepdims: bool
) -> Operand:
    y = norm(_flat(x.array))
    return chainerx.reshape(y, (level.size, *(1,) * x.ndim)) if keepdims else y


@rule('linalg.vector_norm')
def _vector_norm(
    level: Level,
    function: Routine,
    x: Operand,
    *,
    axis: Axis | None = None,
    ord: float | str | None = 2,
    keepdims: bool = False,
) -> Operand:
    if axis is None:
        return _of_all(level, x, lambda flat: function(flat, axis=1, ord=ord), keepdims)
    axes = axes_of('vector_norm', axis, x.ndim)
    return function(x.array, axis=axes, ord=ord, keepdims=keepdims)


@composed('cross', 'linalg.cross')
def _cross(
    a: Operand = None,
    b: Operand = None,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
    **kw: Argument,
) -> Operand:
    a, b = kw.get('x1', a), kw.get('x2', b)
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = chainerx.moveaxis(a, axisa, -1), chainerx.moveaxis(b, axisb, -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise chainerx.DimensionError(
            f'cross: vectors have {a.shape[-1]} and {b.shape[-1]} elements, expected 2 or 3'
        )

    def parts(x: Operand) -> list[Operand]:
        return [x[..., i] for i in range(x.shape[-1])]

    p, q = parts(a), parts(b)
    z = p[0] * q[1] - p[1] * q[0]
    if len(p) == len(q) == 2:
        return z
    # The third component of a 2-d vector is 0.
    first = [p[1] * q[2] if len(q) == 3 else None, p[2] * q[1] if len(p) == 3 else None]
    second = [p[2] * q[0] if len(p) == 3 else None, p[0] * q[2] if len(q) == 3 else None]
    found = [_minus(*first), _minus(*second), z]
    return chainerx.moveaxis(chainerx.stack(found, -1), -1, axisc)


def _minus(x: Operand, y: Operand) -> Operand:
    if y is None:
        return x
    return -y if x is None else x - y


@composed('linalg.tensorsolve')
def _tensorsolve(a: Operand, b: Operand, axes: c.Sequence[int] | None = None) -> Operand:
    if axes is not None:
        moved = [i % a.ndim for i in axes]
        order = tuple([i for i in range(a.ndim) if i not in moved]) + tuple(moved)
        a = chainerx.transpose(a, order)
    shape = a.shape[b.ndim :]
    n = _size(shape)
    if n != b.size:
        raise chainerx.DimensionError(
            f'tensorsolve: a.shape {a.shape} does not fit b.shape {b.shape}'
        )
    y = chainerx.linalg.solve(chainerx.reshape(a, (n, n)), chainerx.ravel(b))
    return chainerx.reshape(y, shape)


@composed('linalg.tensorinv')
def _tensorinv(a: Operand, ind: int = 2) -> Operand:
    first, rest = a.shape[:ind], a.shape[ind:]
    n = _size(rest)
    if ind <= 0 or _size(first) != n:
        raise chainerx.DimensionError(f'tensorinv: a.shape is {a.shape}, ind is {ind}')
    return chainerx.reshape(chainerx.linalg.inv(chainerx.reshape(a, (n, n))), rest + first)
