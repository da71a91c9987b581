"""`DilatedConvolution2D`: convolution of images whose window has gaps."""

from __future__ import annotations

import typing as tp

from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions._windows import per_axis
from chainer.functions.connection.dilated_convolution_2d import dilated_convolution_2d
from chainer.link import Link
from chainer.links.connection import _convolution
from chainer.variable import Variable


class DilatedConvolution2D(Link):
    """As `Convolution2D`, which has `dilate`, too.

    Args:
        in_channels: Channels of the input. None, or left out (the arguments behind it move up):
            taken from the first input.
        out_channels: Channels of the output.
        ksize: Height and width of the window, an int or a pair.
        stride: Steps of the window, an int or a pair.
        pad: Zeros around the images, an int or a pair.
        dilate: Distance of the elements of the window, an int or a pair.
        nobias: Whether there is no `b`.
        initialW: Initializer of `W`; `LeCunNormal` by default.
        initial_bias: Initializer of `b`; 0 by default.

    Attributes:
        W (Parameter): Weight, ``(out_channels, in_channels, kh, kw)``.
        b (Parameter): Bias, ``(out_channels,)``, or None.
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: tp.Any = None,
        stride: tp.Any = 1,
        pad: tp.Any = 0,
        dilate: tp.Any = 1,
        nobias: bool = False,
        initialW: tp.Any = None,
        initial_bias: tp.Any = None,
    ) -> None:
        super().__init__()
        if ksize is None:
            in_channels, out_channels, ksize = None, tp.cast(int, in_channels), out_channels
        self.ksize = ksize
        self.stride = per_axis('DilatedConvolution2D', 'stride', stride, 2)
        self.pad = per_axis('DilatedConvolution2D', 'pad', pad, 2)
        self.dilate = per_axis('DilatedConvolution2D', 'dilate', dilate, 2)
        self.out_channels = out_channels
        with self.init_scope():
            self.W = _convolution.weight(initialW)
            if in_channels is not None:
                self._initialize_params(in_channels)
            self.b = None if nobias else _convolution.bias(initial_bias, out_channels)

    def _initialize_params(self, in_channels: int) -> None:
        kh, kw = per_axis('DilatedConvolution2D', 'ksize', self.ksize, 2)
        self.W.initialize((self.out_channels, in_channels, kh, kw))

    def forward(self, x: tp.Any) -> Variable:
        """Apply the layer.

        Args:
            x (Variable or array): (N, in_channels, H, W).

        Returns:
            Variable: (N, out_channels, out_h, out_w).
        """
        if self.W.array is None:
            self._initialize_params(_convolution.channels(x, 4))
        return dilated_convolution_2d(x, self.W, self.b, self.stride, self.pad, self.dilate)
