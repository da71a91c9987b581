"""The long short-term memory that joins two others."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.functions._of_arrays import grad_grad_sigmoid as _grad_grad_sigmoid  # noqa: F401  (for libraries)
from chainer.functions._of_arrays import grad_grad_tanh as _grad_grad_tanh  # noqa: F401  (for libraries)
from chainer.functions._of_arrays import grad_sigmoid as _grad_sigmoid  # noqa: F401  (for libraries)
from chainer.functions._of_arrays import grad_tanh as _grad_tanh  # noqa: F401  (for libraries)
from chainer.functions._of_arrays import interleaved_gates as _extract_gates  # noqa: F401  (for libraries)
from chainer.functions._of_arrays import sigmoid as _sigmoid  # noqa: F401  (for libraries)
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class SLSTM(BuiltinFunction):
    """See `slstm`."""

    compose = routine(chainerx.slstm)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('c_prev1', 'c_prev2', 'x1', 'x2'))
        c1, c2, x1, x2 = in_types
        type_check.expect(
            c1.dtype.kind == 'f',
            c2.dtype == c1.dtype,
            x1.dtype == c1.dtype,
            x2.dtype == c1.dtype,
            c1.ndim >= 2,
            c2.ndim >= 2,
            c1.shape == c2.shape,
            x1.ndim == c1.ndim,
            x2.ndim == c1.ndim,
        )
        type_check.expect(
            c1.shape[0] == x1.shape[0],
            c1.shape[0] == x2.shape[0],
            x1.shape[1] == 4 * c1.shape[1],
            x2.shape[1] == 4 * c2.shape[1],
        )
        for i in range(2, type_check.eval(c1.ndim)):
            type_check.expect(x1.shape[i] == c1.shape[i], x2.shape[i] == c1.shape[i])


def slstm(
    c_prev1: VariableLike, c_prev2: VariableLike, x1: VariableLike, x2: VariableLike
) -> tuple[variable.Variable, variable.Variable]:
    """A step of a long short-term memory with two pasts, for sequences and trees.

    With gates ``a1``, ``i1``, ``f1``, ``o1`` taken from ``x1``, and so on, it is
    ``c = sum(tanh(a) * sigmoid(i) + sigmoid(f) * c_prev)`` over both, and
    ``h = sigmoid(o1 + o2) * tanh(c)``.

    Args:
        c_prev1 (Variable or array): A cell before; (N, units, ...), a float dtype.
        c_prev2 (Variable or array): The other; same shape and dtype.
        x1 (Variable or array): (N, 4 * units, ...), the same dtype; the gates of a unit stand side
            by side.
        x2 (Variable or array): Same shape and dtype.

    Returns:
        tuple of Variable: ``c`` and ``h``, the shape of ``c_prev1``. Differentiable in all inputs,
        any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Source: Zhu et al., ICML 2015.
    """
    return SLSTM.call(c_prev1, c_prev2, x1, x2)
