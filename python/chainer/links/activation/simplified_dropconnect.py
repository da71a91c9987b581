"""`SimplifiedDropconnect`: the fully connected layer with random weights left out."""

from __future__ import annotations

import math
import typing as tp

from chainer import initializers
from chainer.functions.noise.simplified_dropconnect import simplified_dropconnect
from chainer.link import Link
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, VariableLike


class SimplifiedDropconnect(Link):
    """Fully connected layer that leaves out weights at random.

    See `chainer.functions.simplified_dropconnect`.

    Args:
        in_size: Features of the input. None: taken from the first input.
        out_size: Features of the output.
        ratio: The probability to leave a weight out.
        nobias: Whether there is no `b`.
        initialW: Initializer of `W`; `LeCunNormal` by default.
        initial_bias: Initializer of `b`; 0 by default.

    Attributes:
        W (Parameter): ``(out_size, in_size)``.
        b (Parameter): ``(out_size,)``, or None.
        out_size (int): As given.
        ratio (float): As given.
    """

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        ratio: float = 0.5,
        nobias: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        self.out_size = out_size
        self.ratio = ratio
        with self.init_scope():
            self.W = Parameter(initializers._get_initializer(initialW))
            if in_size is not None:
                self._initialize_params(in_size)
            if nobias:
                self.b = None
            else:
                bias = initializers._get_initializer(0 if initial_bias is None else initial_bias)
                self.b = Parameter(bias, out_size)

    def _initialize_params(self, in_size: int) -> None:
        self.W.initialize((self.out_size, in_size))

    def forward(
        self,
        x: VariableLike,
        train: bool = True,
        mask: VariableLike | None = None,
        use_batchwise_mask: bool = True,
    ) -> Variable:
        """Apply the layer.

        Args:
            x (Variable or array): (N, ...), ``in_size`` elements per row.
            train (bool): Whether weights are left out; ``chainer.config.train`` does not matter.
            mask (Variable or array): Which weights are there, instead of random ones.
            use_batchwise_mask (bool): Whether each example has a mask of its own.

        Returns:
            Variable: (N, out_size).
        """
        if self.W.array is None:
            self._initialize_params(math.prod(x.shape[1:]))
        return simplified_dropconnect(
            x, self.W, self.b, self.ratio, train, mask, use_batchwise_mask
        )
