"""`Inception`: the block of GoogLeNet."""

from __future__ import annotations

import typing as tp

from chainer.functions.activation.relu import relu
from chainer.functions.array.concat import concat
from chainer.functions.pooling.max_pooling_nd import max_pooling_2d
from chainer.link import Chain
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, VariableLike


class Inception(Chain):
    """Convolutions of several sizes and a pooling of the same image, side by side.

    Args:
        in_channels: Channels of the input. None: taken from the first input.
        out1: Channels from the convolution of 1 x 1.
        proj3: Channels to which the input of that of 3 x 3 is reduced.
        out3: Channels from the convolution of 3 x 3.
        proj5: Channels to which the input of that of 5 x 5 is reduced.
        out5: Channels from the convolution of 5 x 5.
        proj_pool: Channels from the pooling.
        conv_init: Initializer of the weights; `LeCunNormal` by default.
        bias_init: Initializer of the biases; 0 by default.

    Source: Szegedy et al., Going Deeper with Convolutions, CVPR 2015.
    """

    def __init__(
        self,
        in_channels: int | None,
        out1: int,
        proj3: int,
        out3: int,
        proj5: int,
        out5: int,
        proj_pool: int,
        conv_init: InitializerSpec | None = None,
        bias_init: InitializerSpec | None = None,
    ) -> None:
        super().__init__()

        def layer(ins: int | None, outs: int, ksize: int) -> Convolution2D:
            pad = ksize // 2
            return Convolution2D(
                ins, outs, ksize, 1, pad, initialW=conv_init, initial_bias=bias_init
            )

        with self.init_scope():
            self.conv1 = layer(in_channels, out1, 1)
            self.proj3 = layer(in_channels, proj3, 1)
            self.conv3 = layer(proj3, out3, 3)
            self.proj5 = layer(in_channels, proj5, 1)
            self.conv5 = layer(proj5, out5, 5)
            self.projp = layer(in_channels, proj_pool, 1)

    def forward(self, x: VariableLike) -> Variable:
        """Apply the block.

        Args:
            x (Variable or array): (N, in_channels, H, W).

        Returns:
            Variable: (N, out1 + out3 + out5 + proj_pool, H, W).
        """
        out1 = self.conv1(x)
        out3 = self.conv3(relu(self.proj3(x)))
        out5 = self.conv5(relu(self.proj5(x)))
        pool = self.projp(max_pooling_2d(x, 3, stride=1, pad=1))
        return relu(concat((out1, out3, out5, pool), axis=1))
