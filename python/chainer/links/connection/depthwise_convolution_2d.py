"""`DepthwiseConvolution2D`: convolution of each channel of images by itself."""

from __future__ import annotations

import math
import typing as tp

from chainer import initializers
from chainer._base.docstrings import documented_like
from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions._windows import per_axis
from chainer.functions.connection.depthwise_convolution_2d import depthwise_convolution_2d
from chainer.link import Link
from chainer.links.connection import _convolution
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, PerAxis, VariableLike


@documented_like(Convolution2D)
class DepthwiseConvolution2D(Link):
    """Convolution of each channel by itself; see `chainer.functions.depthwise_convolution_2d`.

    Args:
        in_channels: Channels of the input. None: taken from the first input.
        channel_multiplier: Outputs of each channel.
        initialW: Initializer of `W`; `HeNormal` of scale ``1 / sqrt(2)`` by default.

    Attributes:
        W (Parameter): Weight, ``(channel_multiplier, in_channels, kh, kw)``.
        b (Parameter): Bias, ``(in_channels * channel_multiplier,)``, or None.
    """

    def __init__(
        self,
        in_channels: int | None,
        channel_multiplier: int,
        ksize: PerAxis,
        stride: PerAxis = 1,
        pad: PerAxis = 0,
        nobias: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        self.ksize = ksize
        self.stride = per_axis('DepthwiseConvolution2D', 'stride', stride, 2)
        self.pad = per_axis('DepthwiseConvolution2D', 'pad', pad, 2)
        self.channel_multiplier = channel_multiplier
        self.nobias = nobias
        if initialW is None:
            initialW = initializers.HeNormal(1 / math.sqrt(2))
        with self.init_scope():
            self.W = _convolution.weight(initialW)
            self.b = None if nobias else _convolution.bias(initial_bias)
        if in_channels is not None:
            self._initialize_params(in_channels)

    def _initialize_params(self, in_channels: int) -> None:
        kh, kw = per_axis('DepthwiseConvolution2D', 'ksize', self.ksize, 2)
        self.W.initialize((self.channel_multiplier, in_channels, kh, kw))
        if self.b is not None:
            self.b.initialize((self.channel_multiplier * in_channels,))

    def forward(self, x: VariableLike) -> Variable:
        """Apply the layer.

        Args:
            x (Variable or array): (N, in_channels, H, W).

        Returns:
            Variable: (N, in_channels * channel_multiplier, out_h, out_w).
        """
        if self.W.array is None:
            self._initialize_params(_convolution.channels(x, 4))
        return depthwise_convolution_2d(x, self.W, self.b, self.stride, self.pad)
