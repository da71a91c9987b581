"""Einstein's notation."""

from __future__ import annotations

import string
import typing as tp

import chainerx

from chainer import variable
from chainer._builtin import BuiltinFunction
from chainer.functions.math._contraction import Label, contract, permute
from chainer.utils import type_check

_LETTERS = string.ascii_uppercase + string.ascii_lowercase


def _parse(operands: tuple[tp.Any, ...]) -> tuple[str, str, tuple[tp.Any, ...]]:
    """Subscripts of inputs and of the output, where @ stands for an ellipsis; and the arrays."""
    if not operands:
        raise ValueError('einsum: no operands')
    if isinstance(operands[0], str):
        text, arrays = operands[0].replace(' ', ''), operands[1:]
        ins, arrow, out = text.replace('...', '@').partition('->')
    else:
        arrays = operands[0 : len(operands) // 2 * 2 : 2]
        ins = ','.join(_to_letters(subscripts) for subscripts in operands[1::2])
        arrow = '->' if len(operands) % 2 else ''
        out = _to_letters(operands[-1]) if arrow else ''
    for letter in ins.replace(',', '') + out:
        if letter not in _LETTERS + '@':
            raise ValueError(f'einsum: {letter!r} is no valid symbol')
    if len(ins.split(',')) != len(arrays):
        raise ValueError(
            f'einsum: there are {len(ins.split(","))} subscripts for {len(arrays)} operands'
        )
    if not arrow:
        out = '@' if '@' in ins else ''
        out += ''.join(sorted(n for n in set(ins) - set('@,') if ins.count(n) == 1))
    for letter in out:
        if letter not in ins:
            raise ValueError(f'einsum: the output subscript {letter!r} is in no input')
        if out.count(letter) > 1:
            raise ValueError(f'einsum: the output has the subscript {letter!r} twice')
    if '@' in ins and '@' not in out:
        raise ValueError('einsum: the output has no ellipsis; axes of an ellipsis are not summed')
    return ins, out, arrays


def _to_letters(subscripts: tp.Any) -> str:
    if not isinstance(subscripts, tuple | list):
        raise TypeError(
            f'einsum: subscripts are a {type(subscripts).__name__}, expected a list of ints'
        )
    return ''.join('@' if n is Ellipsis else _LETTERS[n] for n in subscripts)


def _labels(subscripts: str, ndim: int) -> list[Label]:
    """A label for each axis; those of an ellipsis are numbers, counted from the right."""
    head, dots, tail = subscripts.partition('@')
    extra = ndim - len(head) - len(tail)
    if extra < 0 or (extra and not dots):
        raise ValueError(f'einsum: subscripts {subscripts!r} do not fit an array of {ndim} axes')
    return [*head, *range(extra - 1, -1, -1), *tail]


def _diagonal(x: chainerx.ndarray, labels: list[Label]) -> tuple[chainerx.ndarray, list[Label]]:
    """Takes the diagonal along axes of one label."""
    for name in [n for n in labels if labels.count(n) > 1]:
        while labels.count(name) > 1:
            i = labels.index(name)
            j = labels.index(name, i + 1)
            others = [k for k in range(x.ndim) if k not in (i, j)]
            n = x.shape[i]
            x = x.transpose([*others, i, j])
            x = x.reshape((*x.shape[:-2], n * n))[..., :: n + 1]
            labels = [*(labels[k] for k in others), name]
    return x, labels


def _sum_out(
    x: chainerx.ndarray, labels: list[Label], kept: set[Label]
) -> tuple[chainerx.ndarray, list[Label]]:
    axes = tuple(n for n, name in enumerate(labels) if name not in kept)
    return (x.sum(axes), [n for n in labels if n in kept]) if axes else (x, labels)


class EinSum(BuiltinFunction):
    """See `einsum`; ``in_subs`` and ``out_sub`` have @ for an ellipsis."""

    attributes: tp.ClassVar = {'in_subs': '', 'out_sub': ''}
    in_subs: str
    out_sub: str

    def check_type_forward(self, in_types: tp.Any) -> None:
        type_check._argname(in_types, tuple(f'x{n}' for n in range(len(in_types))))
        seen: dict[Label, tp.Any] = {}
        for subscripts, x in zip(self.in_subs.split(','), in_types, strict=True):
            type_check.expect(x.dtype.kind == 'f')
            labels = _labels(subscripts, type_check.eval(x.ndim))
            if '@' in subscripts:
                start = subscripts.index('@')
                stop = start + len(labels) - len(subscripts) + 1
                type_check.expect(seen.setdefault('@', x.shape[start:stop]) == x.shape[start:stop])
            for axis, name in enumerate(labels):
                if isinstance(name, str):
                    type_check.expect(seen.setdefault(name, x.shape[axis]) == x.shape[axis])

    @staticmethod
    def compose(*args: tp.Any) -> chainerx.ndarray:
        *xs, in_subs, out_sub = args
        n_dots = 0
        terms = []
        for x, subscripts in zip(xs, in_subs.split(','), strict=True):
            labels = _labels(subscripts, x.ndim)
            n_dots = max(n_dots, sum(isinstance(n, int) for n in labels))
            terms.append(_diagonal(x, labels))
        out = _labels(out_sub, len(out_sub.replace('@', '')) + n_dots)
        y, y_labels = terms[0]
        for n, (x, labels) in enumerate(terms[1:], 2):
            later = {*out, *(name for _, names in terms[n:] for name in names)}
            y, y_labels = _sum_out(y, y_labels, later | set(labels))
            x, labels = _sum_out(x, labels, later | set(y_labels))
            y, y_labels = contract(y, y_labels, x, labels, later)
        y, y_labels = _sum_out(y, y_labels, set(out))
        y = permute(y, y_labels, out)
        return y[...] if y is xs[0] else y


def einsum(*operands: tp.Any) -> variable.Variable:
    """A sum of products in Einstein's notation, as ``numpy.einsum`` has it.

    ``einsum('ij,jk->ik', a, b)``, or ``einsum(a, [0, 1], b, [1, 2], [0, 2])``. Arrays are
    multiplied from left to right, as matrices where possible.

    Args:
        *operands: Subscripts and arrays (Variable or array), of any float dtypes. Axes of an
            ellipsis have the same lengths in all arrays that have one, and are not summed over.

    Returns:
        Variable: Differentiable in all arrays, any order.

    Raises:
        InvalidType: If a dtype is not a float, or lengths of axes differ.
        ValueError: If subscripts are malformed or do not fit.
    """
    in_subs, out_sub, arrays = _parse(operands)
    return EinSum.call(*arrays, in_subs, out_sub)
