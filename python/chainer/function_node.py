"""`FunctionNode`: a differentiable function.

The path of Chainer v7; the code is in `chainer._graph.function_node`.
"""

from chainer._graph.function_node import (  # noqa: F401
    FunctionHook,
    FunctionNode,
    check_unwritten,
    cuda,
    grad,
    variables_of,
)

# What pickles, messages and documentation name.
for _object in (
    FunctionNode,
    variables_of,
    check_unwritten,
):
    _object.__module__ = 'chainer.function_node'
