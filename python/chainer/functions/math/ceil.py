"""Rounding up."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import variable
from chainer._graph.builtin import BuiltinFunction

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class _Ceil(BuiltinFunction):
    has_graph = False
    compose = staticmethod(chainerx.ceil)


def ceil(x: VariableLike | np.generic) -> variable.Variable:
    """The smallest integer that is not below the element.

    Args:
        x (Variable, array or NumPy scalar): Any shape, any dtype; integers stay unchanged.

    Returns:
        Variable: Shape and dtype of ``x``. Not differentiable, and without a creator:
        the gradient would be 0 everywhere.

    Raises:
        TypeError: If ``x`` is no array.
    """
    if isinstance(x, np.generic):
        x = np.asarray(x)
    return _Ceil.call(x)
