"""`DeconvolutionND`: transposed convolution over any number of axes."""

from __future__ import annotations

import typing as tp

from chainer._base.docstrings import documented_like
from chainer.functions.connection.deconvolution_nd import deconvolution_nd
from chainer.links.connection import _convolution
from chainer.links.connection.convolution_nd import ConvolutionND
from chainer.utils import conv_nd
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, PerAxis, VariableLike


@documented_like(ConvolutionND)
class DeconvolutionND(_convolution.ConvolutionLink):
    """Transposed convolution over `ndim` axes; see `chainer.functions.deconvolution_nd`.

    Args:
        stride: Distance of the windows in the output, an int or a tuple.
        pad: The border that is cut off at both ends of each axis, an int or a tuple.
        outsize: Lengths of the axes of the output, or None.

    Attributes:
        W (Parameter): Weight, ``(in_channels, out_channels / groups, *ksize)``.
        b (Parameter): Bias, ``(out_channels,)``, or None.
    """

    def __init__(
        self,
        ndim: int,
        in_channels: int | None,
        out_channels: int,
        ksize: PerAxis | None = None,
        stride: PerAxis = 1,
        pad: PerAxis = 0,
        nobias: bool = False,
        outsize: PerAxis | None = None,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        dilate: PerAxis = 1,
        groups: int = 1,
    ) -> None:
        super().__init__()
        if ksize is None:
            in_channels, out_channels, ksize = None, tp.cast(int, in_channels), out_channels
        self.out_channels = out_channels
        self.ksize = conv_nd.as_tuple(ksize, ndim)
        self.stride = stride
        self.pad = pad
        self.outsize = outsize
        self.dilate = conv_nd.as_tuple(dilate, ndim)
        self.groups = groups
        self._add_params(in_channels, nobias, initialW, initial_bias)

    def _initialize_params(self, in_channels: int) -> None:
        _convolution.check_groups('DeconvolutionND', in_channels, self.out_channels, self.groups)
        self.W.initialize((in_channels, self.out_channels // self.groups, *self.ksize))

    def _n_axes(self) -> int:
        return len(self.ksize)

    def _convolve(self, x: VariableLike) -> Variable:
        return deconvolution_nd(
            x,
            self.W,
            self.b,
            self.stride,
            self.pad,
            self.outsize,
            self.dilate,
            self.groups,
        )


@documented_like(DeconvolutionND)
class _DeconvolutionOfNdim(DeconvolutionND):
    """Base of those whose number of spatial axes, `_ndim`, is in their name.

    Args:
        in_channels: Channels of the input. None: taken from the first input.
    """

    _ndim: tp.ClassVar[int]

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: PerAxis,
        stride: PerAxis = 1,
        pad: PerAxis = 0,
        nobias: bool = False,
        outsize: PerAxis | None = None,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        dilate: PerAxis = 1,
        groups: int = 1,
    ) -> None:
        super().__init__(
            self._ndim,
            in_channels,
            out_channels,
            ksize,
            stride,
            pad,
            nobias,
            outsize,
            initialW,
            initial_bias,
            dilate,
            groups,
        )


@documented_like(_DeconvolutionOfNdim)
class Deconvolution1D(_DeconvolutionOfNdim):
    """Transposed convolution over one axis: `DeconvolutionND` with `ndim` 1."""

    _ndim = 1


@documented_like(_DeconvolutionOfNdim)
class Deconvolution3D(_DeconvolutionOfNdim):
    """Transposed convolution over three axes: `DeconvolutionND` with `ndim` 3."""

    _ndim = 3
