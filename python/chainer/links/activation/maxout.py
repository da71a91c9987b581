"""`Maxout`: the largest of several linear layers."""

from __future__ import annotations

import typing as tp

from chainer._base import environment
from chainer.functions.activation.maxout import maxout
from chainer.link import Chain
from chainer.links.connection.linear import Linear
from chainer.variable import Variable


class Maxout(Chain):
    """Fully connected layers, of which the largest counts for each output.

    Args:
        in_size: Features of the input. None: taken from the first input.
        out_size: Features of the output.
        pool_size: Number of layers.
        initialW: Initializer of the weights, or an array of as many elements; `LeCunNormal` by
            default.
        initial_bias: Initializer of the biases, or an array of as many elements; None for no
            biases.

    Attributes:
        linear (Linear): All layers: those of an output stand next to each other.
        out_size (int): As given.
        pool_size (int): As given.

    Raises:
        ValueError: If ``pool_size`` is below 1.

    Source: Goodfellow et al., ICML 2013.
    """

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        pool_size: int,
        initialW: tp.Any = None,
        initial_bias: tp.Any = 0,
    ) -> None:
        if pool_size < 1:
            raise ValueError(f'Maxout: pool_size is {pool_size}, expected at least 1')
        super().__init__()
        outs = out_size * pool_size
        if _is_array(initialW):
            initialW = initialW.reshape(outs, -1)
        if _is_array(initial_bias):
            initial_bias = initial_bias.reshape(outs)
        self.out_size = out_size
        self.pool_size = pool_size
        with self.init_scope():
            self.linear = Linear(
                in_size,
                outs,
                nobias=initial_bias is None,
                initialW=initialW,
                initial_bias=initial_bias,
            )

    def forward(self, x: tp.Any) -> Variable:
        """Apply the layers.

        Args:
            x (Variable or array): (N, ...), ``in_size`` elements per row.

        Returns:
            Variable: (N, out_size).
        """
        return maxout(self.linear(x), self.pool_size)


def _is_array(x: tp.Any) -> bool:
    return isinstance(x, environment.get_array_types()) and x.ndim > 0
