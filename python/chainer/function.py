"""`Function`: differentiable functions in the style of Chainer v1.

The path of Chainer v7; the code is in `chainer._graph.function`.
"""

from chainer._graph.function import Function as Function
from chainer._graph.function import FunctionAdapter as FunctionAdapter
from chainer._graph.function import FunctionHook as FunctionHook
from chainer._graph.function import FunctionNode as FunctionNode
from chainer._graph.function import check_unwritten as check_unwritten
from chainer._graph.function import cuda as cuda
from chainer._graph.function import force_backprop_mode as force_backprop_mode
from chainer._graph.function import no_backprop_mode as no_backprop_mode

# What pickles, messages and documentation name.
for _object in (
    no_backprop_mode,
    force_backprop_mode,
    FunctionAdapter,
    Function,
):
    _object.__module__ = 'chainer.function'
