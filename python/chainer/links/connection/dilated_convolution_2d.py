"""`DilatedConvolution2D`: convolution of images whose window has gaps."""

from __future__ import annotations

import typing as tp

from chainer._base.docstrings import documented_like
from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions._windows import per_axis
from chainer.functions.connection.dilated_convolution_2d import dilated_convolution_2d
from chainer.links.connection import _convolution
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, PerAxis, VariableLike


@documented_like(Convolution2D)
class DilatedConvolution2D(_convolution.ConvolutionLink):
    """As `Convolution2D`, which has `dilate`, too.

    Attributes:
        W (Parameter): Weight, ``(out_channels, in_channels, kh, kw)``.
        b (Parameter): Bias, ``(out_channels,)``, or None.
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: PerAxis | None = None,
        stride: PerAxis = 1,
        pad: PerAxis = 0,
        dilate: PerAxis = 1,
        nobias: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        if ksize is None:
            in_channels, out_channels, ksize = None, tp.cast(int, in_channels), out_channels
        self.ksize = ksize
        self.stride = per_axis('DilatedConvolution2D', 'stride', stride, 2)
        self.pad = per_axis('DilatedConvolution2D', 'pad', pad, 2)
        self.dilate = per_axis('DilatedConvolution2D', 'dilate', dilate, 2)
        self.out_channels = out_channels
        self._add_params(in_channels, nobias, initialW, initial_bias)

    def _initialize_params(self, in_channels: int) -> None:
        kh, kw = per_axis('DilatedConvolution2D', 'ksize', self.ksize, 2)
        self.W.initialize((self.out_channels, in_channels, kh, kw))

    def _convolve(self, x: VariableLike) -> Variable:
        return dilated_convolution_2d(x, self.W, self.b, self.stride, self.pad, self.dilate)
