"""`Maxout`: the largest of several linear layers."""

from __future__ import annotations

import functools
import typing as tp

from chainer._base import environment
from chainer.functions.activation.maxout import maxout
from chainer.initializer import Initializer
from chainer.link import Chain
from chainer.links.connection.linear import Linear
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, NdArray, VariableLike


class Maxout(Chain):
    """Fully connected layers, of which the largest counts for each output.

    Args:
        in_size: Features of the input. None: taken from the first input.
        out_size: Features of the output.
        pool_size: Number of layers.
        initialW: Initializer of the weights, `LeCunNormal` by default; or an array of shape
            (out_size, pool_size, in_size); or a function that fills such an array.
        initial_bias: Initializer of the biases, None for no biases; or an array of shape
            (out_size, pool_size); or a function that fills such an array.

    Attributes:
        linear (Linear): All layers: those of an output stand next to each other.
        out_size (int): As given.
        pool_size (int): As given.

    Raises:
        ValueError: If ``pool_size`` is below 1, or an array has another number of axes.

    Source: Goodfellow et al., ICML 2013.
    """

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        pool_size: int,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = 0,
    ) -> None:
        if pool_size < 1:
            raise ValueError(f'Maxout: pool_size is {pool_size}, expected at least 1')
        super().__init__()
        self.out_size = out_size
        self.pool_size = pool_size
        with self.init_scope():
            self.linear = Linear(
                in_size,
                out_size * pool_size,
                nobias=initial_bias is None,
                initialW=self._of_all_layers(initialW, 'initialW', 3),
                initial_bias=self._of_all_layers(initial_bias, 'initial_bias', 2),
            )

    def _of_all_layers(
        self, initializer: InitializerSpec | None, name: str, ndim: int
    ) -> InitializerSpec | None:
        """Return an initializer of the same values for a weight that has outputs and layers in one
        axis."""
        shape = (self.out_size, self.pool_size)
        if isinstance(initializer, environment.get_array_types()) and initializer.ndim > 0:
            if initializer.ndim != ndim:
                raise ValueError(
                    f'Maxout: {name} has shape {initializer.shape}, expected {ndim} axes, of which '
                    f'the first are out_size and pool_size'
                )
            return initializer.reshape(-1, *initializer.shape[2:])
        if callable(initializer) and not isinstance(initializer, Initializer):
            return functools.partial(_fill, initializer, shape)
        return initializer

    def forward(self, x: VariableLike) -> Variable:
        """Apply the layers.

        Args:
            x (Variable or array): (N, ...), ``in_size`` elements per row.

        Returns:
            Variable: (N, out_size).
        """
        return maxout(self.linear(x), self.pool_size)


def _fill(
    initializer: tp.Callable[[NdArray], None], shape: tuple[int, ...], array: NdArray
) -> None:
    """Calls a function of the user's for an array whose first axis is that of ``shape``."""
    initializer(array.reshape(*shape, *array.shape[1:]))
