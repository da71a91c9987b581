"""The identity."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Identity(BuiltinFunction):
    """See `identity`."""

    is_elementwise = True

    @staticmethod
    def compose(*xs: chainerx.ndarray) -> tuple[chainerx.ndarray, ...]:
        return tuple(x[...] for x in xs)


def identity(*inputs: VariableLike) -> variable.Variable | tuple[variable.Variable, ...]:
    """Its inputs, as another place in the graph.

    Args:
        *inputs (Variable or array): Of any shapes and dtypes.

    Returns:
        Variable or tuple of Variable: The same shapes and dtypes, over the same memory.
        Differentiable, any order.

    Raises:
        TypeError: If one is no array.
    """
    if not inputs:
        return ()
    outputs = Identity.call(*inputs)
    return outputs[0] if len(inputs) == 1 else outputs
