"""`FunctionNode`: a differentiable function.

The path of Chainer v7; the code is in `chainer._graph.function_node`.
"""

from chainer._graph.function_node import FunctionHook as FunctionHook
from chainer._graph.function_node import FunctionNode as FunctionNode
from chainer._graph.function_node import cuda as cuda
from chainer._graph.function_node import grad as grad
from chainer.graph_optimizations.static_graph_utilities import (
    static_forward_optimizations as static_forward_optimizations,
)

# What pickles, messages and documentation name.
FunctionNode.__module__ = 'chainer.function_node'
