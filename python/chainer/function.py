"""`Function`: differentiable functions in the style of Chainer v1.

The path of Chainer v7; the code is in `chainer._graph.function`.
"""

from chainer._graph.function import (  # noqa: F401
    Function,
    FunctionAdapter,
    FunctionHook,
    FunctionNode,
    check_unwritten,
    cuda,
    force_backprop_mode,
    no_backprop_mode,
)

# What pickles, messages and documentation name.
for _object in (
    no_backprop_mode,
    force_backprop_mode,
    FunctionAdapter,
    Function,
):
    _object.__module__ = 'chainer.function'
