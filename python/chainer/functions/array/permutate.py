"""Arrays in another order."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np
from chainerx._core import _scatter, engine

from chainer import variable
from chainer._graph.builtin import BuiltinFunction, _as_chainerx, _to_numpy
from chainer.functions._index_errors import of_indices
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import Arrays, InTypes, NdArray, VariableLike


def _place(x: chainerx.ndarray, indices: chainerx.ndarray, axis: int) -> chainerx.ndarray:
    n = len(indices)
    inverse = _scatter(chainerx.arange(n, dtype='int64', device=x.device), indices, n)
    return chainerx.take(x, inverse, axis)


def _gradient(
    gy: chainerx.ndarray,
    needed: tuple[bool, ...],
    inputs: None,
    y: None,
    indices: chainerx.ndarray,
    axis: int,
) -> tuple[chainerx.ndarray, ...]:
    return (chainerx.take(gy, indices, axis),)


# Keeps the caller's indices, not their inverse.
_take_inverse = engine.WithGradient('permutate', _place, _gradient, n_params=2, keeps='')


class Permutate(BuiltinFunction):
    """See `permutate`."""

    check_uses_attributes = False

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))

    def _check_in_debug_mode(self, in_data: Arrays) -> None:
        indices = np.sort(_to_numpy(self.indices))
        if (indices != np.arange(len(indices))).any():
            raise ValueError('permutate: indices are no permutation of 0 to n - 1')

    @staticmethod
    def compose(x: chainerx.ndarray, *, indices: NdArray, axis: int, inv: bool) -> chainerx.ndarray:
        indices = _as_chainerx(indices)
        try:
            return _take_inverse(x, indices, axis) if inv else chainerx.take(x, indices, axis)
        except IndexError as error:
            text = 'permutate: indices has {0}, the axis of x has length {1}'
            raise of_indices(error, text) from None


def permutate(
    x: VariableLike, indices: VariableLike, axis: int = 0, inv: bool = False
) -> variable.Variable:
    """An array in another order along an axis.

    Args:
        x (Variable or array): Any shape and dtype.
        indices (Variable or array): (length of the axis,), integers: for each place the old one.
        axis (int): See above.
        inv (bool): Whether ``indices`` say for each old place the new one instead.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable in ``x``, any order.

    Raises:
        InvalidType: If there is no such axis.
        IndexError: If an index is out of range.
        TypeError: If ``indices`` are no array.
        ValueError: If ``indices`` have several axes or another dtype; in debug mode, if they are
            no permutation.
    """
    indices = variable.as_array(indices)
    if not hasattr(indices, 'ndim'):
        raise TypeError(
            f'permutate: indices is a {type(indices).__name__}, expected a Variable or an array'
        )
    if indices.ndim != 1 or indices.dtype.kind != 'i':
        raise ValueError(
            f'permutate: indices are of dtype {indices.dtype} with {indices.ndim} axes, expected '
            'integers with one axis'
        )
    if not -x.ndim <= axis < x.ndim:
        ndim = type_check.make_variable(x.ndim, 'x.ndim')
        with type_check._naming('Permutate'):
            type_check.expect(ndim > axis if axis >= 0 else ndim >= -axis)
    return Permutate.call(x, indices=indices, axis=axis, inv=inv)
