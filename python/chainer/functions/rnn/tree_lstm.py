"""The long short-term memory of a node in a tree."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.functions._of_arrays import adjacent_gates as _extract_gates  # noqa: F401  (for libraries)
from chainer.functions._of_arrays import grad_sigmoid as _grad_sigmoid  # noqa: F401  (for libraries)
from chainer.functions._of_arrays import grad_tanh as _grad_tanh  # noqa: F401  (for libraries)
from chainer.functions._of_arrays import sigmoid as _sigmoid  # noqa: F401  (for libraries)
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class TreeLSTM(BuiltinFunction):
    """See `tree_lstm`."""

    compose = routine(chainerx.tree_lstm)
    is_called = True

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() >= 2)
        n = type_check.eval(in_types.size()) - 1
        cells, x = in_types[:n], in_types[n]
        for c in cells:
            type_check.expect(c.dtype.kind == 'f', c.ndim >= 2, x.dtype == c.dtype)
            type_check.expect(c.ndim == x.ndim, x.shape[0] == c.shape[0])
            type_check.expect(x.shape[1] == (3 + n) * c.shape[1], x.shape[2:] == c.shape[2:])


def tree_lstm(*inputs: VariableLike) -> tuple[variable.Variable, variable.Variable]:
    """A step of a long short-term memory whose past is a number of children.

    With gates ``a``, ``i``, ``o``, ``f1``, ... taken from ``x``, it is
    ``c = tanh(a) * sigmoid(i) + sigmoid(f1) * c1 + ...``, ``h = sigmoid(o) * tanh(c)``.

    Args:
        *inputs (Variables or arrays): The cells of the children, ``c1``, ..., ``cn``: (N, units,
            ...), a float dtype. Then ``x``: (N, (3 + n) * units, ...), the same dtype; the gates
            follow each other on axis 1.

    Returns:
        tuple of Variable: ``c`` and ``h``, the shape of ``c1``. Differentiable in all inputs, any
        order.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or there are less than two inputs.
        TypeError: If there is no input.

    Source: Tai et al., ACL 2015.
    """
    return TreeLSTM.call(*inputs)
