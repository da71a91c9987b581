"""`DeconvolutionND`: transposed convolution over any number of axes."""

from __future__ import annotations

import typing as tp

from chainer.functions.connection.deconvolution_nd import deconvolution_nd
from chainer.link import Link
from chainer.links.connection import _convolution
from chainer.utils import conv_nd
from chainer.variable import Variable


class DeconvolutionND(Link):
    """Transposed convolution over `ndim` axes; see `chainer.functions.deconvolution_nd`.

    Args:
        ndim: The number of spatial axes, 1 to 8.
        in_channels: Channels of the input. None, or left out (the arguments behind it move up):
            taken from the first input.
        out_channels: Channels of the output.
        ksize: Lengths of the window, an int or a tuple.
        stride: Distance of the windows in the output, an int or a tuple.
        pad: What is cut off at both ends of each axis, an int or a tuple.
        nobias: Whether there is no `b`.
        outsize: Lengths of the axes of the output, or None.
        initialW: Initializer of `W`; `LeCunNormal` by default.
        initial_bias: Initializer of `b`; 0 by default.
        dilate: Distance of the elements of the window, an int or a tuple.
        groups: Outputs of a group see the inputs of that group alone.

    Attributes:
        W (Parameter): Weight, ``(in_channels, out_channels / groups, *ksize)``.
        b (Parameter): Bias, ``(out_channels,)``, or None.
    """

    def __init__(
        self,
        ndim: int,
        in_channels: int | None,
        out_channels: int,
        ksize: tp.Any = None,
        stride: tp.Any = 1,
        pad: tp.Any = 0,
        nobias: bool = False,
        outsize: tp.Any = None,
        initialW: tp.Any = None,
        initial_bias: tp.Any = None,
        dilate: tp.Any = 1,
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
        with self.init_scope():
            self.W = _convolution.weight(initialW)
            if in_channels is not None:
                self._initialize_params(in_channels)
            self.b = None if nobias else _convolution.bias(initial_bias, out_channels)

    def _initialize_params(self, in_channels: int) -> None:
        _convolution.check_groups('DeconvolutionND', in_channels, self.out_channels, self.groups)
        self.W.initialize((in_channels, self.out_channels // self.groups, *self.ksize))

    def forward(self, x: tp.Any) -> Variable:
        """Apply the layer.

        Args:
            x (Variable or array): (N, in_channels, d_1, ..., d_n).

        Returns:
            Variable: (N, out_channels, l_1, ..., l_n).
        """
        if self.W.array is None:
            self._initialize_params(_convolution.channels(x, len(self.ksize) + 2))
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


class Deconvolution1D(DeconvolutionND):
    """Transposed convolution over one axis: `DeconvolutionND` with `ndim` 1.

    Args:
        in_channels: Channels of the input. None: taken from the first input.
        out_channels: Channels of the output.
        ksize: Length of the window, an int or a tuple of one.
        stride: Distance of the windows in the output, an int or a tuple of one.
        pad: What is cut off at both ends, an int or a tuple of one.
        nobias: Whether there is no `b`.
        outsize: Length of the output, or None.
        initialW: Initializer of `W`; `LeCunNormal` by default.
        initial_bias: Initializer of `b`; 0 by default.
        dilate: Distance of the elements of the window, an int or a tuple of one.
        groups: Outputs of a group see the inputs of that group alone.
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: tp.Any,
        stride: tp.Any = 1,
        pad: tp.Any = 0,
        nobias: bool = False,
        outsize: tp.Any = None,
        initialW: tp.Any = None,
        initial_bias: tp.Any = None,
        dilate: tp.Any = 1,
        groups: int = 1,
    ) -> None:
        super().__init__(
            1,
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


class Deconvolution3D(DeconvolutionND):
    """Transposed convolution over three axes: `DeconvolutionND` with `ndim` 3.

    Args:
        in_channels: Channels of the input. None: taken from the first input.
        out_channels: Channels of the output.
        ksize: Lengths of the window, an int or a tuple of three.
        stride: Distance of the windows in the output, an int or a tuple.
        pad: What is cut off at both ends of each axis, an int or a tuple.
        nobias: Whether there is no `b`.
        outsize: Lengths of the axes of the output, or None.
        initialW: Initializer of `W`; `LeCunNormal` by default.
        initial_bias: Initializer of `b`; 0 by default.
        dilate: Distance of the elements of the window, an int or a tuple.
        groups: Outputs of a group see the inputs of that group alone.
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: tp.Any,
        stride: tp.Any = 1,
        pad: tp.Any = 0,
        nobias: bool = False,
        outsize: tp.Any = None,
        initialW: tp.Any = None,
        initial_bias: tp.Any = None,
        dilate: tp.Any = 1,
        groups: int = 1,
    ) -> None:
        super().__init__(
            3,
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
