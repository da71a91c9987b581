"""`Scale`: a factor that broadcasts from an axis on."""

from __future__ import annotations

import typing as tp

from chainer.functions.math.scale import scale
from chainer.link import Chain
from chainer.links.connection.bias import Bias, _operands
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import ShapeSpec, VariableLike


class Scale(Chain):
    """Elementwise product of the input and a factor, as in :func:`chainer.functions.scale`.

    Args:
        axis: First axis of the input that the factor goes along.
        W_shape: Shape of the factor. None: it is given as the second input.
        bias_term: Whether an offset is added, too.
        bias_shape: Shape of the offset, where `W_shape` is None; else that is its shape.

    Attributes:
        W (Parameter): The factor; only if `W_shape` is given.
        bias (Bias): The link that adds the offset; only if `bias_term` is true.
    """

    def __init__(
        self,
        axis: int = 1,
        W_shape: ShapeSpec | None = None,
        bias_term: bool = False,
        bias_shape: ShapeSpec | None = None,
    ) -> None:
        super().__init__()
        self.axis = axis
        with self.init_scope():
            if W_shape is not None:
                self.W = Parameter(1, W_shape)
                bias_shape = W_shape
            if bias_term:
                if bias_shape is None:
                    raise ValueError(
                        'bias_shape should be given if W is not learnt parameter and bias_term is '
                        'True.'
                    )
                self.bias = Bias(axis, bias_shape)

    def forward(self, *xs: VariableLike) -> Variable:
        """Multiply by the factor and add the offset.

        Args:
            *xs (Variable or array): The input; without `W`, the factor, too.

        Returns:
            Variable: Shape and dtype of the input.

        Raises:
            ValueError: If there are too many or too few.
        """
        x, w = _operands(self, xs, 'W')
        z = scale(x, w, self.axis)
        return self.bias(z) if hasattr(self, 'bias') else z
