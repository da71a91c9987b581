"""`Variable`, `Parameter`, `VariableNode`; gradients of several variables at once.

The path of Chainer v7; the code is in `chainer._graph`.
"""

from chainer._graph.backprop import backward as backward
from chainer._graph.backprop import grad as grad
from chainer._graph.parameter import Parameter as Parameter
from chainer._graph.parameter import Variable as Variable
from chainer._graph.parameter import VariableNode as VariableNode
from chainer._graph.parameter import (  # noqa: F401
    _create_variable,
    _recover_parameter,
    _unpickle,
)
from chainer._graph.parameter import as_array as as_array
from chainer._graph.parameter import as_variable as as_variable
from chainer._graph.parameter import chainer_get_device as chainer_get_device
from chainer._graph.parameter import variable_repr as variable_repr
from chainer._graph.parameter import variable_str as variable_str

# What pickles, messages and documentation name.
for _object in (
    Parameter,
    grad,
    backward,
    as_array,
    as_variable,
):
    _object.__module__ = 'chainer.variable'
