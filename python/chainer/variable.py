"""`Variable`, `Parameter`, `VariableNode`; gradients of several variables at once.

The path of Chainer v7; the code is in `chainer._graph`.
"""

from chainer._graph.backprop import backward, grad
from chainer._graph.parameter import (  # noqa: F401
    Parameter,
    Variable,
    VariableNode,
    _create_variable,
    _recover_parameter,
    _unpickle,
    as_array,
    as_variable,
    chainer_get_device,
    variable_repr,
    variable_str,
)

# What pickles, messages and documentation name.
for _object in (
    Parameter,
    grad,
    backward,
    as_array,
    as_variable,
):
    _object.__module__ = 'chainer.variable'
