"""`Deconvolution2D`: transposed convolution of images."""

from __future__ import annotations

import typing as tp

from chainer._base.docstrings import documented_like
from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions._windows import per_axis
from chainer.functions.connection.convolution_2d import REMOVED
from chainer.functions.connection.deconvolution_2d import deconvolution_2d
from chainer.links.connection import _convolution
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.utils import argument
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, PerAxis, VariableLike


@documented_like(Convolution2D)
class Deconvolution2D(_convolution.ConvolutionLink):
    """Transposed convolution of images; see `chainer.functions.deconvolution_2d`.

    Args:
        stride: Distance of the windows in the output, an int or a pair.
        pad: The border that is cut off the output, an int or a pair.
        outsize: Height and width of the output, or None.

    Attributes:
        W (Parameter): Weight, ``(in_channels, out_channels / groups, kh, kw)``.
        b (Parameter): Bias, ``(out_channels,)``, or None.
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: PerAxis | None = None,
        stride: PerAxis = 1,
        pad: PerAxis = 0,
        nobias: bool = False,
        outsize: PerAxis | None = None,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        *,
        dilate: PerAxis = 1,
        groups: int = 1,
        **removed: object,
    ) -> None:
        if removed:
            argument.check_unexpected_kwargs(removed, **REMOVED)
            argument.assert_kwargs_empty(removed)
        super().__init__()
        if ksize is None:
            in_channels, out_channels, ksize = None, tp.cast(int, in_channels), out_channels
        self.ksize = ksize
        self.stride = per_axis('Deconvolution2D', 'stride', stride, 2)
        self.pad = per_axis('Deconvolution2D', 'pad', pad, 2)
        self.dilate = per_axis('Deconvolution2D', 'dilate', dilate, 2)
        self.outsize: tp.Any = (None, None) if outsize is None else outsize
        self.out_channels = out_channels
        self.groups = groups
        self._add_params(in_channels, nobias, initialW, initial_bias)

    def _initialize_params(self, in_channels: int) -> None:
        _convolution.check_groups('Deconvolution2D', in_channels, self.out_channels, self.groups)
        kh, kw = per_axis('Deconvolution2D', 'ksize', self.ksize, 2)
        self.W.initialize((in_channels, self.out_channels // self.groups, kh, kw))

    def _convolve(self, x: VariableLike) -> Variable:
        return deconvolution_2d(
            x,
            self.W,
            self.b,
            self.stride,
            self.pad,
            self.outsize,
            dilate=self.dilate,
            groups=self.groups,
        )
