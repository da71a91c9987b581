"""The long short-term memory."""

from __future__ import annotations

import typing as tp

from chainerx._core import engine

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


class LSTM(BuiltinFunction):
    """See `lstm`."""

    compose = routine(engine.Native('lstm'))

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('c', 'x'))
        c, x = in_types
        type_check.expect(
            c.dtype.kind == 'f',
            x.dtype == c.dtype,
            c.ndim >= 2,
            x.ndim >= 2,
            c.ndim == x.ndim,
        )
        type_check.expect(x.shape[0] <= c.shape[0], x.shape[1] == 4 * c.shape[1])
        for i in range(2, type_check.eval(c.ndim)):
            type_check.expect(x.shape[i] == c.shape[i])


def lstm(c_prev: VariableLike, x: VariableLike) -> tuple[variable.Variable, variable.Variable]:
    """A step of a long short-term memory.

    With gates ``a``, ``i``, ``f``, ``o`` taken from ``x``, it is
    ``c = tanh(a) * sigmoid(i) + sigmoid(f) * c_prev``, ``h = sigmoid(o) * tanh(c)``.

    Args:
        c_prev (Variable or array): The cell before; (N, units, ...), a float dtype.
        x (Variable or array): (M, 4 * units, ...) with ``M <= N``, the same dtype; the gates of a
            unit stand side by side. Cells beyond the first ``M`` stay as they were.

    Returns:
        tuple of Variable: ``c``, the shape of ``c_prev``, and ``h``, (M, units, ...).
        Differentiable in both, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Source: Hochreiter and Schmidhuber, Neural Computation 1997; Gers et al., 2000.
    """
    return LSTM.call(c_prev, x)
