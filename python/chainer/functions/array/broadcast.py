"""Arrays repeated along axes of length 1."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Broadcast(BuiltinFunction):
    """See `broadcast`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() > 0)
        type_check.expect_broadcast_shapes(*[x.shape for x in in_types])

    @staticmethod
    def compose(*xs: chainerx.ndarray) -> tuple[chainerx.ndarray, ...]:
        return tuple(chainerx.broadcast_arrays(*xs))


class BroadcastTo(BuiltinFunction):
    """See `broadcast_to`."""

    argument_names: tp.ClassVar = {'_shape': 'shape'}
    compose = routine(chainerx.broadcast_to, _shape=...)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() == 1)
        (x,) = in_types
        ndim = type_check.make_variable(len(self._shape), 'len(shape)')
        type_check._argname((x,), ('x',))
        type_check.expect(x.ndim <= ndim)
        for i in range(-type_check.eval(x.ndim), 0):
            if type_check.eval(x.shape[i]) != 1:
                type_check.expect(x.shape[i] == self._shape[i])


def broadcast(*args: VariableLike) -> tp.Any:
    """Arrays in their common shape.

    Args:
        *args (Variable or array): One or more, of any shapes that broadcast and any dtypes.

    Returns:
        tuple of Variable: Views of the common shape, each of its dtype; of one array, the variable
        alone. Differentiable, any order.

    Raises:
        InvalidType: If the shapes do not fit, or there is none.
    """
    if len(args) == 1:
        return variable.as_variable(args[0])
    if not args:
        with type_check._naming('Broadcast'):
            type_check.expect(type_check.make_variable(0, 'in_types.size') > 0)
    return Broadcast.call(*args)


def broadcast_to(x: VariableLike, shape: tp.Sequence[int]) -> variable.Variable:
    """An array in a shape that it broadcasts to.

    Args:
        x (Variable or array): Any shape and dtype.
        shape (tuple of int): See above.

    Returns:
        Variable: A view; ``x`` itself if it has the shape. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` does not broadcast to the shape.
    """
    if type(shape) is not tuple:
        shape = tuple(shape)
    if x.shape == shape:
        return variable.as_variable(x)
    return BroadcastTo.call(x, _shape=shape)
