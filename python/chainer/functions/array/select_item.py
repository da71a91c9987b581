"""One element of each row."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import _select_item

from chainer import variable
from chainer._graph.builtin import BuiltinFunction, _to_numpy
from chainer.functions._index_errors import of_indices
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import Arrays, InTypes, VariableLike


class SelectItem(BuiltinFunction):
    """See `select_item`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 't'))
        x, t = in_types
        type_check.expect(t.dtype.kind == 'i', x.ndim == 2, t.ndim == 1, x.shape[0] == t.shape[0])

    def _check_in_debug_mode(self, in_data: Arrays) -> None:
        x, t = in_data
        t = _to_numpy(t)
        if ((t < 0) | (t >= x.shape[1])).any():
            raise ValueError(f'select_item: t has numbers beyond 0 to {x.shape[1] - 1}')

    @staticmethod
    def compose(x: chainerx.ndarray, t: chainerx.ndarray) -> chainerx.ndarray:
        try:
            return _select_item(x, t)
        except IndexError as error:
            raise of_indices(error, 'select_item: t has {0}, x has {1} columns') from None


def select_item(x: VariableLike, t: VariableLike) -> variable.Variable:
    """One element of each row, ``x[i, t[i]]``.

    Args:
        x (Variable or array): (rows, columns), any dtype.
        t (Variable or array): (rows,), integers.

    Returns:
        Variable: (rows,). Differentiable in ``x``, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        IndexError: If there is no such column.
        ValueError: The same, and for negative numbers, in debug mode.
    """
    return SelectItem.call(x, t)
