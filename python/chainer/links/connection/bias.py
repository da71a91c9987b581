"""`Bias`: an offset that broadcasts from an axis on."""

from __future__ import annotations

import typing as tp

from chainer.functions.math.bias import bias
from chainer.link import Link
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import ShapeSpec, VariableLike


class Bias(Link):
    """Elementwise sum of the input and an offset, as in :func:`chainer.functions.bias`.

    Args:
        axis: First axis of the input that the offset goes along.
        shape: Shape of the offset. None: it is given as the second input.

    Attributes:
        b (Parameter): The offset; only if `shape` is given.
    """

    def __init__(self, axis: int = 1, shape: ShapeSpec | None = None) -> None:
        super().__init__()
        self.axis = axis
        if shape is not None:
            with self.init_scope():
                self.b = Parameter(0, shape)

    def forward(self, *xs: VariableLike) -> Variable:
        """Add the offset.

        Args:
            *xs (Variable or array): The input; without `b`, the offset, too.

        Returns:
            Variable: Shape and dtype of the input.

        Raises:
            ValueError: If there are too many or too few.
        """
        x, b = _operands(self, xs, 'b')
        return bias(x, b, self.axis)


def _operands(
    link: Link, xs: tuple[VariableLike, ...], name: str
) -> tuple[VariableLike, VariableLike]:
    """The input and the other operand, which is a parameter or a second input."""
    own = (getattr(link, name),) if hasattr(link, name) else ()
    if len(xs) + len(own) != 2:
        has = f'has a parameter {name}' if own else f'has no parameter {name}'
        raise ValueError(
            f'{type(link).__name__} {has}: it takes {2 - len(own)} inputs, not {len(xs)}'
        )
    x, other = xs + own
    return x, other
