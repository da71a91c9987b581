"""`MLPConvolution2D`: a network in a network."""

from __future__ import annotations

import typing as tp
from collections.abc import Sequence

from chainer.functions.activation.relu import relu
from chainer.link import ChainList
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.utils import argument
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, PerAxis, VariableLike

_WSCALE: tp.Final = 'wscale is not supported anymore. Use conv_init and bias_init'


class MLPConvolution2D(ChainList):
    """A convolution followed by 1 x 1 convolutions, which work on single pixels.

    Args:
        in_channels: Channels of the input. None, or left out (the arguments behind it move up):
            taken from the first input.
        out_channels: Channels of the output of each layer, a tuple.
        ksize: Height and width of the window of the first, an int or a pair.
        stride: Steps of that window, an int or a pair.
        pad: Zeros around the images, an int or a pair.
        activation: The function between the layers; `relu` by default.
        conv_init: Initializer of the weights; `LeCunNormal` by default.
        bias_init: Initializer of the biases; 0 by default.

    Attributes:
        activation (callable): The function between the layers.

    Source: Lin et al., Network in Network, ICLR 2014.
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: Sequence[int],
        ksize: PerAxis | None = None,
        stride: PerAxis = 1,
        pad: PerAxis = 0,
        activation: tp.Callable[[Variable], Variable] = relu,
        *,
        conv_init: InitializerSpec | None = None,
        bias_init: InitializerSpec | None = None,
        **removed: object,
    ) -> None:
        if removed:
            argument.check_unexpected_kwargs(removed, wscale=_WSCALE)
            argument.assert_kwargs_empty(removed)
        if ksize is None:
            in_channels, out_channels, ksize = None, tp.cast(tp.Any, in_channels), out_channels
        if len(out_channels) == 0:
            raise ValueError('MLPConvolution2D: out_channels is empty, expected a number per layer')
        first, *rest = out_channels
        layers = [
            Convolution2D(
                in_channels,
                first,
                ksize,
                stride,
                pad,
                initialW=conv_init,
                initial_bias=bias_init,
            )
        ]
        for ins, outs in zip(out_channels, rest, strict=False):
            layers.append(Convolution2D(ins, outs, 1, initialW=conv_init, initial_bias=bias_init))
        super().__init__(*layers)
        self.activation = activation

    def forward(self, x: VariableLike) -> Variable:
        """Apply the layers.

        Args:
            x (Variable or array): (N, in_channels, H, W).

        Returns:
            Variable: (N, out_channels[-1], out_h, out_w), without an activation at the end.
        """
        first, *rest = self
        y = first(x)
        for layer in rest:
            y = layer(self.activation(y))
        return y
