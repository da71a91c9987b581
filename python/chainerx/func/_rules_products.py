"""Batching rules of products: of matrices, of vectors, einsum."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx.func._batch import Level, composed, is_batch, lift, rule
from chainerx.func._rules_axes import _inner, _size, axes_of

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Axis, DTypeLike, Operand, Routine

# ---- products ------------------------------------------------------------------------------------


def _in_dtype(dtype: DTypeLike | None, *operands: Operand) -> tuple[Operand, ...]:
    """Casts the operands of a product to a dtype of no lower kind, as positive() checks."""
    if dtype is None:
        return operands
    return tuple([chainerx.positive(x, dtype=dtype) for x in operands])


@rule('matmul')
def _matmul(
    level: Level, function: Routine, x1: Operand, x2: Operand, *, dtype: DTypeLike | None = None
) -> Operand:
    if dtype is not None:
        return _inner(chainerx.matmul(*_in_dtype(dtype, x1, x2)))
    for name, x in (('x1', x1), ('x2', x2)):
        if x.ndim == 0:
            raise chainerx.DimensionError(
                f'matmul: {name} is 0-dimensional, expected at least 1 dimension; use multiply'
            )
    k1, k2 = x1.shape[-1], x2.shape[0 if x2.ndim == 1 else -2]
    if k1 != k2:
        raise chainerx.DimensionError(
            f'matmul: x1.shape[{x1.ndim - 1}] is {k1}, but x2.shape[{max(0, x2.ndim - 2)}] is {k2} '
            f'(shapes {x1.shape} and {x2.shape})'
        )
    # A single product if one side is the same for all.
    if not is_batch(x2, level) and x2.ndim <= 2:
        return function(x1.array, x2)
    if not is_batch(x1, level) and x1.ndim == 2 and x2.ndim == 1:
        return function(x2.array, chainerx.transpose(x1))
    if not is_batch(x1, level) and x1.ndim == 1 and x2.ndim == 1:
        return function(x2.array, x1)
    row, column = x1.ndim == 1, x2.ndim == 1
    a = chainerx.expand_dims(x1, 0) if row else x1  # examples with inserted row and column axes
    b = chainerx.expand_dims(x2, 1) if column else x2
    ndim = max(a.ndim, b.ndim)
    y = function(lift(a, level, ndim), lift(b, level, ndim))
    if column:
        y = chainerx.squeeze(y, -1)
    return chainerx.squeeze(y, -1 if column else -2) if row else y


@rule('dot')
def _dot(level: Level, function: Routine, a: Operand, b: Operand) -> Operand:
    if a.ndim == 0 or b.ndim == 0:
        return _inner(chainerx.multiply(a, b))
    if b.ndim <= 2:
        return _inner(chainerx.matmul(a, b))
    # Concatenates the columns of many matrices.
    axis = b.ndim - 2
    if a.shape[-1] != b.shape[axis]:
        raise chainerx.DimensionError(
            f'dot: a.shape[{a.ndim - 1}] is {a.shape[-1]}, but b.shape[{axis}] is {b.shape[axis]} '
            f'(shapes {a.shape} and {b.shape})'
        )
    rest = tuple([i for i in range(b.ndim) if i != axis])
    columns = chainerx.moveaxis(b, axis, 0)
    shape = tuple([b.shape[i] for i in rest])
    n = 1
    for length in shape:
        n *= length
    flat = chainerx.reshape(columns, (b.shape[axis], n))
    return _inner(chainerx.reshape(chainerx.matmul(a, flat), (*a.shape[:-1], *shape)))


@rule('linear')
def _linear(
    level: Level,
    function: Routine,
    x: Operand,
    w: Operand,
    b: Operand = None,
    n_batch_axes: int = 1,
) -> Operand:
    if not is_batch(w, level) and not is_batch(b, level):
        return function(x.array, w, b, n_batch_axes + 1)
    n_in = 1
    for length in x.shape[n_batch_axes:]:
        n_in *= length
    if w.ndim != 2 or not 0 <= n_batch_axes <= x.ndim or w.shape[1] != n_in:
        raise chainerx.DimensionError(
            f'linear: x of shape {x.shape} has {n_in} features after {n_batch_axes} batch axes, '
            f'but w.shape is {w.shape}'
        )
    rows = chainerx.reshape(x, (*x.shape[:n_batch_axes], n_in))
    y = chainerx.matmul(rows, chainerx.transpose(w))
    return _inner(y if b is None else y + b)


# ---- products of other names --------------------------------------------------------------------


@composed('outer', 'linalg.outer')
def _outer(a: Operand = None, b: Operand = None, **kw: Argument) -> Operand:
    a, b = kw.get('x1', a), kw.get('x2', b)
    return chainerx.multiply(chainerx.expand_dims(chainerx.ravel(a), 1), chainerx.ravel(b))


@composed('inner')
def _inner_product(a: Operand, b: Operand) -> Operand:
    if a.ndim == 0 or b.ndim == 0:
        return chainerx.multiply(a, b)
    return chainerx.tensordot(a, b, (-1, -1))


@composed('vdot')
def _vdot(a: Operand, b: Operand) -> Operand:
    return chainerx.matmul(chainerx.conj(chainerx.ravel(a)), chainerx.ravel(b))


@composed('vecdot', 'linalg.vecdot')
def _vecdot(x1: Operand, x2: Operand, axis: int = -1, *, dtype: DTypeLike | None = None) -> Operand:
    x1, x2 = _in_dtype(dtype, x1, x2)
    rows = chainerx.expand_dims(chainerx.conj(chainerx.moveaxis(x1, axis, -1)), -2)
    columns = chainerx.expand_dims(chainerx.moveaxis(x2, axis, -1), -1)
    return chainerx.squeeze(chainerx.matmul(rows, columns), (-2, -1))


@composed('matvec')
def _matvec(x1: Operand, x2: Operand, *, dtype: DTypeLike | None = None) -> Operand:
    x1, x2 = _in_dtype(dtype, x1, x2)
    return chainerx.squeeze(chainerx.matmul(x1, chainerx.expand_dims(x2, -1)), -1)


@composed('vecmat')
def _vecmat(x1: Operand, x2: Operand, *, dtype: DTypeLike | None = None) -> Operand:
    x1, x2 = _in_dtype(dtype, x1, x2)
    return chainerx.squeeze(chainerx.matmul(chainerx.expand_dims(chainerx.conj(x1), -2), x2), -2)


@composed('tensordot', 'linalg.tensordot')
def _tensordot(a: Operand = None, b: Operand = None, axes: Axis = 2, **kw: Argument) -> Operand:
    a, b = kw.get('x1', a), kw.get('x2', b)
    if isinstance(axes, int):
        left, right = tuple(range(-axes, 0)), tuple(range(axes))
    else:
        left, right = [tuple(x) if isinstance(x, (tuple, list)) else (x,) for x in axes]
    left = tuple([i + a.ndim for i in axes_of('tensordot', left, a.ndim)])
    right = tuple([i + b.ndim for i in axes_of('tensordot', right, b.ndim)])
    lengths = [a.shape[i] for i in left]
    if lengths != [b.shape[i] for i in right]:
        raise chainerx.DimensionError(
            f'tensordot: axes {left} of a.shape {a.shape} and {right} of b.shape {b.shape} do not '
            'have the same lengths'
        )
    rows = tuple([i for i in range(a.ndim) if i not in left])
    columns = tuple([i for i in range(b.ndim) if i not in right])
    outer = tuple([a.shape[i] for i in rows]) + tuple([b.shape[i] for i in columns])
    n = _size(lengths)
    flat_a = chainerx.reshape(
        chainerx.transpose(a, rows + left), (_size([a.shape[i] for i in rows]), n)
    )
    flat_b = chainerx.reshape(
        chainerx.transpose(b, right + columns), (n, _size([b.shape[i] for i in columns]))
    )
    return chainerx.reshape(chainerx.matmul(flat_a, flat_b), outer)


@composed('kron')
def _kron(a: Operand, b: Operand) -> Operand:
    ndim = max(a.ndim, b.ndim)
    n = (1,) * (ndim - a.ndim) + a.shape
    m = (1,) * (ndim - b.ndim) + b.shape
    left = chainerx.reshape(a, sum([(k, 1) for k in n], ()))
    right = chainerx.reshape(b, sum([(1, k) for k in m], ()))
    return chainerx.reshape(left * right, tuple([i * k for i, k in zip(n, m, strict=True)]))


_LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'


@rule('einsum')
def _einsum(level: Level, function: Routine, *operands: Operand, **kw: Argument) -> Operand:
    terms, output, arrays = _subscripts(operands)
    used = set(''.join(terms))
    free = [x for x in _LETTERS if x not in used]
    if not free:
        raise chainerx.NotImplementedError('vmap: einsum uses all 52 letters, none is left')
    if output is None:
        letters = [x for x in ''.join(terms) if x != '.']
        output = '...' if any('...' in term for term in terms) else ''
        output += ''.join(
            sorted(
                [x for x in set(letters) if letters.count(x) == 1],
                key=None if isinstance(operands[0], str) else _LETTERS.index,
            )
        )
    terms = [
        free[0] + term if is_batch(x, level) else term
        for term, x in zip(terms, arrays, strict=True)
    ]
    arrays = [x.array if is_batch(x, level) else x for x in arrays]
    return function(f'{",".join(terms)}->{free[0]}{output}', *arrays, **kw)


def _subscripts(operands: tuple[Operand, ...]) -> tuple[list[str], str | None, list[Operand]]:
    """The terms, the output term (None if omitted), and the arrays."""
    if isinstance(operands[0], str):
        text = operands[0].replace(' ', '')
        inputs, arrow, output = text.partition('->')
        terms, arrays = inputs.split(','), list(operands[1:])
        if len(terms) != len(arrays):
            raise ValueError(f'einsum: {text!r} is for {len(terms)} operands, got {len(arrays)}')
        return terms, output if arrow else None, arrays
    arrays, lists = list(operands[0::2]), list(operands[1::2])
    last = None
    if len(arrays) > len(lists):
        last = _term(arrays.pop())
    return [_term(x) for x in lists], last, arrays


def _term(labels: Operand) -> str:
    return ''.join(['...' if x is Ellipsis else _LETTERS[x] for x in labels])


@composed('linalg.multi_dot')
def _multi_dot(arrays: Operand) -> Operand:
    # einsum finds the cheapest order.
    terms = [_LETTERS[i : i + 2] for i in range(len(arrays))]
    if arrays[0].ndim == 1:
        terms[0] = terms[0][1]
    if arrays[-1].ndim == 1:
        terms[-1] = terms[-1][0]
    ends = (terms[0][0] if arrays[0].ndim == 2 else '') + (
        terms[-1][-1] if arrays[-1].ndim == 2 else ''
    )
    return chainerx.einsum(f'{",".join(terms)}->{ends}', *arrays, optimize='optimal')
