"""A choice of elements."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import variable
from chainer._graph.builtin import BuiltinFunction, _as_chainerx
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import ArrayLike, InTypes, NdArray, VariableLike


class Where(BuiltinFunction):
    """See `where`."""

    check_uses_attributes = False

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 'y'))
        x, y = in_types
        type_check.expect(x.dtype == y.dtype)
        type_check.expect_broadcast_shapes(x.shape, y.shape)

    @staticmethod
    def compose(
        x: chainerx.ndarray, y: chainerx.ndarray, *, condition: NdArray
    ) -> chainerx.ndarray:
        try:
            return chainerx.where(_as_chainerx(condition), x, y)
        except chainerx.DimensionError:
            name = type_check.make_variable
            with type_check._naming('Where'):
                type_check.expect_broadcast_shapes(
                    name(condition.shape, 'condition.shape'),
                    name(x.shape, 'x.shape'),
                    name(y.shape, 'y.shape'),
                )
            raise


def where(
    condition: ArrayLike | variable.Variable, x: VariableLike, y: VariableLike
) -> variable.Variable:
    """Elements of ``x`` where the condition holds, of ``y`` elsewhere.

    Args:
        condition (Variable, array, list or bool): Any shape, bool.
        x (Variable or array): Any dtype.
        y (Variable or array): The dtype of ``x``. All three broadcast.

    Returns:
        Variable: The common shape, the dtype of ``x``. Differentiable in ``x`` and ``y``, any
        order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
    """
    condition = variable.as_array(condition)
    if not hasattr(condition, 'dtype'):
        condition = np.asarray(condition)
    if condition.dtype != bool:
        dtype = type_check.make_variable(condition.dtype, 'condition.dtype')
        with type_check._naming('Where'):
            type_check.expect(dtype == np.dtype(bool))
    return Where.call(x, y, condition=condition)
