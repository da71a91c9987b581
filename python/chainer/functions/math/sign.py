"""Signs."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import variable
from chainer._graph.builtin import BuiltinFunction

if tp.TYPE_CHECKING:
    from chainer._typing import VariableOrNumber


class _Sign(BuiltinFunction):
    has_graph = False

    @staticmethod
    def compose(x: chainerx.ndarray) -> chainerx.ndarray:
        return chainerx.sign(x)


def sign(x: VariableOrNumber) -> variable.Variable:
    """-1, 0 or 1 as the element is below, at or above 0.

    Args:
        x (Variable, array or number): Any shape, any real dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Not differentiable, and without a creator:
        the gradient would be 0 everywhere.

    Raises:
        DtypeError: If the dtype is bool or complex.
    """
    if isinstance(x, np.generic | float | int | list):
        x = np.asarray(x)
    return _Sign.call(x)
