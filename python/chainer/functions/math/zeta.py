"""Hurwitz's zeta function."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction, _as_chainerx
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, NdArray, VariableLike, VariableOrNumber


class Zeta(BuiltinFunction):
    """See `zeta`."""

    label = 'zeta'
    is_elementwise = True

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('q',))
        type_check.expect(in_types[0].dtype.kind == 'f')
        if hasattr(self.x, 'shape'):
            shape = type_check.make_variable(self.x.shape, 'x.shape')
            type_check.expect_broadcast_shapes(shape, in_types[0].shape)

    @staticmethod
    def compose(q: chainerx.ndarray, *, x: NdArray | float) -> chainerx.ndarray:
        y = chainerx.special.zeta(_as_chainerx(x) if hasattr(x, 'shape') else x, q)
        return y if y.dtype == q.dtype else y.astype(q.dtype)


def zeta(x: VariableOrNumber, q: VariableLike) -> variable.Variable:
    """Hurwitz's zeta function, the sum of ``(k + q)**-x`` over all k from 0 on, elementwise.

    Args:
        x (Variable, array or float): The exponents, a constant; of any real dtype. 1 gives inf,
            less gives NaN.
        q (Variable or array): Any float dtype. The two broadcast.

    Returns:
        Variable: The common shape, the dtype of ``q``. Differentiable in ``q``, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
    """
    return Zeta.call(q, x=variable.as_array(x))
