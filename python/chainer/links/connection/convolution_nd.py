"""`ConvolutionND`: convolution over any number of axes."""

from __future__ import annotations

import typing as tp

from chainer._base.docstrings import documented_like
from chainer.functions.connection.convolution_nd import convolution_nd
from chainer.links.connection import _convolution
from chainer.utils import conv_nd
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, PerAxis, VariableLike


class ConvolutionND(_convolution.ConvolutionLink):
    """Convolution over `ndim` axes; see `chainer.functions.convolution_nd`.

    Args:
        ndim: The number of spatial axes, 1 to 8.
        in_channels: Channels of the input. None, or left out (the arguments behind it move up):
            taken from the first input.
        out_channels: Channels of the output.
        ksize: Lengths of the window, an int or a tuple.
        stride: Steps of the window, an int or a tuple.
        pad: Zeros at both ends of each axis, an int or a tuple.
        nobias: Whether there is no `b`.
        initialW: Initializer of `W`; `LeCunNormal` by default.
        initial_bias: Initializer of `b`; 0 by default.
        cover_all: Whether all elements are seen, if need be by one more step.
        dilate: Distance of the elements of the window, an int or a tuple.
        groups: Outputs of a group see the inputs of that group alone.

    Attributes:
        W (Parameter): Weight, ``(out_channels, in_channels / groups, *ksize)``.
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
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        cover_all: bool = False,
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
        self.cover_all = cover_all
        self.dilate = conv_nd.as_tuple(dilate, ndim)
        self.groups = groups
        self._add_params(in_channels, nobias, initialW, initial_bias)

    def _initialize_params(self, in_channels: int) -> None:
        _convolution.check_groups('ConvolutionND', in_channels, self.out_channels, self.groups)
        self.W.initialize((self.out_channels, in_channels // self.groups, *self.ksize))

    @classmethod
    def from_params(
        cls,
        W: VariableLike,
        b: VariableLike | None = None,
        stride: PerAxis = 1,
        pad: PerAxis = 0,
        nobias: bool = False,
        **options: tp.Any,
    ) -> tp.Self:
        """Make the link from a weight and a bias.

        Args:
            W (array or Variable): (outs, ins / groups, k_1, ..., k_n); it is copied.
            b (array or Variable): (outs,); it is copied.
            stride (int or tuple of int): Steps of the window.
            pad (int or tuple of int): Zeros at both ends of each axis.
            nobias (bool): Whether there is no bias.
            **options: `cover_all`, `dilate` and `groups` of the constructor.

        Returns:
            ConvolutionND: A new one.

        Raises:
            ValueError: If the sizes of `W` and `b` differ.
        """
        _convolution.check_bias_of_params(W, b)
        link = cls.__new__(cls)
        out_channels, in_channels, *ksize = W.shape
        ConvolutionND.__init__(
            link,
            len(ksize),
            in_channels * options.get('groups', 1),
            out_channels,
            tuple(ksize),
            stride,
            pad,
            nobias,
            _convolution.as_array(W),
            _convolution.as_array(b),
            **options,
        )
        return link

    def _n_axes(self) -> int:
        return len(self.ksize)

    def _convolve(self, x: VariableLike) -> Variable:
        return convolution_nd(
            x,
            self.W,
            self.b,
            self.stride,
            self.pad,
            self.cover_all,
            self.dilate,
            self.groups,
        )


@documented_like(ConvolutionND)
class _ConvolutionOfNdim(ConvolutionND):
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
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        cover_all: bool = False,
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
            initialW,
            initial_bias,
            cover_all,
            dilate,
            groups,
        )


@documented_like(_ConvolutionOfNdim)
class Convolution1D(_ConvolutionOfNdim):
    """Convolution over one axis: `ConvolutionND` with `ndim` 1."""

    _ndim = 1


@documented_like(_ConvolutionOfNdim)
class Convolution3D(_ConvolutionOfNdim):
    """Convolution over three axes: `ConvolutionND` with `ndim` 3."""

    _ndim = 3
