"""Products summed over several axes."""

from __future__ import annotations

import collections.abc
import typing as tp

import chainerx
import numpy as np

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.math._contraction import product
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, InTypes, VariableLike

Axes = tp.Any  # int, or a pair of ints or of sequences of int


def _split_axes(axes: Axes, a_ndim: int, b_ndim: int) -> tuple[list[int], list[int]]:
    """The axes to sum over, of each array."""
    if isinstance(axes, collections.abc.Sequence):
        if len(axes) != 2:
            raise ValueError(f'tensordot: axes is {axes!r}, expected an int or a pair')
        a_axes, b_axes = (
            [int(side)] if isinstance(side, int | np.integer) else list(side) for side in axes
        )
    else:
        if axes > min(a_ndim, b_ndim):
            raise ValueError(
                f'tensordot: axes is {axes}, but the arrays have {a_ndim} and {b_ndim} dimensions'
            )
        a_axes, b_axes = list(range(a_ndim - axes, a_ndim)), list(range(axes))
    for side, ndim in ((a_axes, a_ndim), (b_axes, b_ndim)):
        if any(not -ndim <= n < ndim for n in side):
            raise ValueError(f'tensordot: axes {side} are not all there in {ndim} dimensions')
    a_axes, b_axes = [n % a_ndim for n in a_axes], [n % b_ndim for n in b_axes]
    if not len(a_axes) == len(b_axes) == len(set(a_axes)) == len(set(b_axes)):
        raise ValueError(f'tensordot: axes {a_axes} and {b_axes} are no pairs, or name one twice')
    return a_axes, b_axes


class TensorDot(BuiltinFunction):
    """See `tensordot`; ``dtype`` is that of the result if not None."""

    check_uses_attributes = False

    def __init__(
        self,
        axes: Axes = 2,
        a_axes: None = None,
        b_axes: None = None,
        c_axes: None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        for name, value in (('a_axes', a_axes), ('b_axes', b_axes), ('c_axes', c_axes)):
            if value is not None:
                raise TypeError(f'tensordot: {name} is {value}, expected None; axes may be a pair')
        self.axes = axes
        self.dtype = dtype

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('a', 'b'))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[1].dtype.kind == 'f')

    @staticmethod
    def compose(
        a: chainerx.ndarray, b: chainerx.ndarray, *, axes: Axes = 2, dtype: DTypeLike | None = None
    ) -> chainerx.ndarray:
        a_axes, b_axes = _split_axes(axes, a.ndim, b.ndim)
        if [a.shape[n] for n in a_axes] != [b.shape[n] for n in b_axes]:
            raise ValueError(
                f'tensordot: axes {a_axes} of shape {a.shape} and {b_axes} of {b.shape} differ'
            )
        a_labels: list[object] = [('a', n) for n in range(a.ndim)]
        b_labels: list[object] = [('b', n) for n in range(b.ndim)]
        for n, m in zip(a_axes, b_axes, strict=True):
            b_labels[m] = a_labels[n]
        out = [n for n in a_labels if n not in b_labels] + [
            n for n in b_labels if n not in a_labels
        ]
        y = product(a, b, a_labels, b_labels, out)
        return y if dtype is None else y.astype(dtype)


def tensordot(a: VariableLike, b: VariableLike, axes: Axes = 2) -> variable.Variable:
    """The product of two arrays, summed over pairs of axes, as ``numpy.tensordot`` has it.

    Args:
        a, b (Variable or array): Any shapes, any float dtypes.
        axes: An int for so many last axes of ``a`` and first ones of ``b``; or a pair: the axes of
            ``a`` and those of ``b``, ints or sequences of int.

    Returns:
        Variable: The other axes of ``a``, then those of ``b``; the common dtype. Differentiable in
        both, any order.

    Raises:
        InvalidType: If a dtype is not a float.
        ValueError: If axes do not exist, or differ in number or length.
    """
    return TensorDot.call(a, b, axes=axes, dtype=None)
