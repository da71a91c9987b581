"""Rows of a table, picked by number."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import _embed_id

from chainer import variable
from chainer._graph.builtin import BuiltinFunction, _to_numpy
from chainer.functions._index_errors import of_indices
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import Arrays, InTypes, VariableLike


class EmbedIDFunction(BuiltinFunction):
    """See `embed_id`."""

    check_uses_attributes = False

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() == 2)
        ids, w = in_types
        type_check.expect(ids.dtype.kind == 'i', ids.ndim >= 1)
        type_check.expect(w.dtype.kind == 'f', w.ndim == 2)

    def _check_in_debug_mode(self, in_data: Arrays) -> None:
        ids, w = (_to_numpy(x) for x in in_data)
        bad = (ids < 0) | (ids >= len(w))
        if self.ignore_label is not None:
            bad &= ids != self.ignore_label
        if bad.any():
            raise ValueError(
                f'embed_id: x has {ids[bad][0]}, expected 0 to {len(w) - 1}'
                + ('' if self.ignore_label is None else f', or ignore_label {self.ignore_label}')
            )

    @staticmethod
    def compose(
        ids: chainerx.ndarray, w: chainerx.ndarray, *, ignore_label: int | None = None
    ) -> chainerx.ndarray:
        try:
            if ignore_label is None:
                return chainerx.take(w, ids, 0)
            return _embed_id(ids, w, ignore_label)
        except IndexError as error:
            raise of_indices(error, 'embed_id: x has {0}, W has {1} rows') from None


def embed_id(
    x: VariableLike, W: VariableLike, ignore_label: int | None = None
) -> variable.Variable:
    """Rows of ``W``, picked by number.

    Args:
        x (Variable or array): Integers, any shape but (). Negative ones count from the end.
        W (Variable or array): (rows, columns), a float dtype.
        ignore_label (int): The row of this number is 0, and gets no gradient.

    Returns:
        Variable: The shape of ``x``, then columns. Differentiable in ``W``, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        IndexError: If there is no such row.
        ValueError: In debug mode, if an integer is not from 0 to rows - 1.
    """
    return EmbedIDFunction.call(x, W, ignore_label=ignore_label)
