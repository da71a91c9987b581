"""`Swish`: the activation whose steepness is learnt."""

from __future__ import annotations

import typing as tp

from chainer import initializers
from chainer.functions.activation.swish import swish
from chainer.link import Link
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, ShapeSpec, VariableLike


class Swish(Link):
    """``x * sigmoid(beta * x)``; see `chainer.functions.swish`.

    Args:
        beta_shape: Shape of `beta`: that of an example, or of its first axes. None: taken from the
            first input.
        beta_init: Initializer of `beta`, or a number.

    Attributes:
        beta (Parameter): The steepness.

    Source: Ramachandran et al., 2017.
    """

    def __init__(self, beta_shape: ShapeSpec, beta_init: InitializerSpec | None = 1.0) -> None:
        super().__init__()
        with self.init_scope():
            self.beta = Parameter(initializers._get_initializer(beta_init))
            if beta_shape is not None:
                self.beta.initialize(beta_shape)

    def forward(self, x: VariableLike) -> Variable:
        """Apply the activation.

        Args:
            x (Variable or array): (N, ...), whose next axes are those of `beta`.

        Returns:
            Variable: Shape and dtype of `x`.
        """
        if self.beta.array is None:
            self.beta.initialize(x.shape[1:])
        return swish(x, self.beta)
