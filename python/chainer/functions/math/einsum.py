"""Einstein's notation."""

from __future__ import annotations

import string
import typing as tp

import chainerx
from chainerx._core import _diagonal

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.math._contraction import (
    Label,
    chain,
    long_chain,
    permute,
    sum_out,
)
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes

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


def _to_letters(subscripts: object) -> str:
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


def _diagonals(x: chainerx.ndarray, labels: list[Label]) -> tuple[chainerx.ndarray, list[Label]]:
    """Takes the diagonal along axes of one label."""
    for name in [n for n in labels if labels.count(n) > 1]:
        while labels.count(name) > 1:
            i = labels.index(name)
            j = labels.index(name, i + 1)
            x = _diagonal(x, 0, i, j)
            labels = [*(n for k, n in enumerate(labels) if k not in (i, j)), name]
    return x, labels


def _labels_of_products(labels: list[list[Label]], out: list[Label]) -> list[list[Label]]:
    """Return the labels that each product from left to right keeps, in the order of a matrix
    product."""
    kept: list[list[Label]] = []
    left = labels[0]
    for n, right in enumerate(labels[1:], 2):
        later = {*out, *(name for names in labels[n:] for name in names)}
        both = [name for name in left if name in right]
        both += [name for name in left if name not in right]
        both += [name for name in right if name not in left]
        left = [name for name in both if name in later] if n < len(labels) else out
        kept.append(left)
    return kept


class EinSum(BuiltinFunction):
    """See `einsum`; ``in_subs`` and ``out_sub`` have @ for an ellipsis."""

    def check_type_forward(self, in_types: InTypes) -> None:
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
    def compose(*xs: chainerx.ndarray, in_subs: str, out_sub: str) -> chainerx.ndarray:
        n_dots = 0
        terms = []
        for x, subscripts in zip(xs, in_subs.split(','), strict=True):
            names = _labels(subscripts, x.ndim)
            n_dots = max(n_dots, sum(isinstance(n, int) for n in names))
            terms.append(_diagonals(x, names))
        out = _labels(out_sub, len(out_sub.replace('@', '')) + n_dots)
        arrays = [x for x, _ in terms]
        labels = [names for _, names in terms]
        if len(arrays) == 1:
            y = permute(*sum_out(arrays[0], labels[0], out), out)
            return y[...] if y is xs[0] else y
        multiply = chain if len(arrays) == 2 else long_chain
        return multiply(*arrays, labels, _labels_of_products(labels, out))


def einsum(*operands: object) -> variable.Variable:
    """A sum of products in Einstein's notation, as ``numpy.einsum`` has it.

    ``einsum('ij,jk->ik', a, b)``, or ``einsum(a, [0, 1], b, [1, 2], [0, 2])``. Arrays are
    multiplied from left to right, as matrices where possible.

    Args:
        *operands: Subscripts and arrays (Variable or array), of any shapes and float dtypes. Axes
            of an ellipsis have the same lengths in all arrays that have one, and are not summed
            over.

    Returns:
        Variable: The axes that the subscripts say, the common dtype. Differentiable in all arrays,
        any order.

    Raises:
        InvalidType: If a dtype is not a float, or lengths of axes differ.
        ValueError: If subscripts are malformed or do not fit.
        TypeError: If subscripts are neither a string nor lists of int.
    """
    in_subs, out_sub, arrays = _parse(operands)
    return EinSum.call(*arrays, in_subs=in_subs, out_sub=out_sub)
