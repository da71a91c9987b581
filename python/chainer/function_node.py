"""`FunctionNode`: a differentiable function.

The path of Chainer v7; the code is in `chainer._graph.function_node`.
"""

from chainer._graph.function_node import (  # noqa: F401
    FunctionHook,
    FunctionNode,
    cuda,
    grad,
)
from chainer.graph_optimizations.static_graph_utilities import (  # noqa: F401
    static_forward_optimizations,
)

# What pickles, messages and documentation name.
FunctionNode.__module__ = 'chainer.function_node'
