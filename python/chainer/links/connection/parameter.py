"""`Parameter`: a link that is nothing but one."""

from __future__ import annotations

import typing as tp

from chainer import variable
from chainer._base import environment
from chainer.functions.math.identity import identity
from chainer.link import Link

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray


class Parameter(Link):
    """A parameter with the methods of a link.

    Args:
        array: Its first value.

    Attributes:
        W (Parameter): The parameter.
    """

    def __init__(self, array: NdArray) -> None:
        super().__init__()
        if not isinstance(array, environment.get_array_types()):
            raise TypeError(f'Parameter: array is a {type(array).__name__}, expected an array')
        with self.init_scope():
            self.W = variable.Parameter(array)

    def forward(self, volatile: str = 'off') -> variable.Variable:
        """The parameter.

        Args:
            volatile (str): Without effect.

        Returns:
            Variable: With the value of `W`, part of its graph.
        """
        return tp.cast(variable.Variable, identity(self.W))
