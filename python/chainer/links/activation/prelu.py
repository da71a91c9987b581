"""`PReLU`: the rectifier whose slope below 0 is learnt."""

from __future__ import annotations

import typing as tp

from chainer import initializers
from chainer.functions.activation.prelu import prelu
from chainer.link import Link
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, ShapeSpec, VariableLike


class PReLU(Link):
    """Rectifier with a slope below 0; see `chainer.functions.prelu`.

    Args:
        shape: Shape of the slopes: that of an example, or of its first axes.
        init: Initializer of `W`, or a number.

    Attributes:
        W (Parameter): The slopes.

    Source: He et al., ICCV 2015.
    """

    def __init__(self, shape: ShapeSpec = (), init: InitializerSpec | None = 0.25) -> None:
        super().__init__()
        with self.init_scope():
            self.W = Parameter(initializers._get_initializer(init), shape)

    def forward(self, x: VariableLike) -> Variable:
        """Apply the rectifier.

        Args:
            x (Variable or array): (N, ...), whose next axes are those of `W`.

        Returns:
            Variable: Shape and dtype of `x`.
        """
        return prelu(x, self.W)
