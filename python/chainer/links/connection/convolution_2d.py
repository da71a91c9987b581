"""`Convolution2D`: convolution of images."""

from __future__ import annotations

import typing as tp
from collections.abc import Iterator

from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions._windows import per_axis
from chainer.functions.connection.convolution_2d import REMOVED, convolution_2d
from chainer.links.connection import _convolution
from chainer.utils import argument
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, PerAxis, VariableLike


class Convolution2D(_convolution.ConvolutionLink):
    """Convolution of images; see `chainer.functions.convolution_2d`.

    Args:
        in_channels: Channels of the input. None, or left out (the arguments behind it move up):
            taken from the first input.
        out_channels: Channels of the output.
        ksize: Height and width of the window, an int or a pair.
        stride: Steps of the window, an int or a pair.
        pad: Zeros around the images, an int or a pair.
        nobias: Whether there is no `b`.
        initialW: Initializer of `W`; `LeCunNormal` by default.
        initial_bias: Initializer of `b`; 0 by default.
        dilate: Distance of the elements of the window, an int or a pair.
        groups: Outputs of a group see the inputs of that group alone.
        cudnn_fast: Accepted; it was for one kind of GPU.

    Attributes:
        W (Parameter): Weight, ``(out_channels, in_channels / groups, kh, kw)``.
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
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        *,
        dilate: PerAxis = 1,
        groups: int = 1,
        cudnn_fast: bool = False,
        **removed: object,
    ) -> None:
        if removed:
            argument.check_unexpected_kwargs(removed, **REMOVED)
            argument.assert_kwargs_empty(removed)
        super().__init__()
        if ksize is None:
            in_channels, out_channels, ksize = None, tp.cast(int, in_channels), out_channels
        self.cudnn_fast = cudnn_fast
        self.ksize = ksize
        self.stride = per_axis('Convolution2D', 'stride', stride, 2)
        self.pad = per_axis('Convolution2D', 'pad', pad, 2)
        self.dilate = per_axis('Convolution2D', 'dilate', dilate, 2)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.groups = groups
        self._add_params(in_channels, nobias, initialW, initial_bias)

    def _initialize_params(self, in_channels: int) -> None:
        _convolution.check_groups('Convolution2D', in_channels, self.out_channels, self.groups)
        kh, kw = per_axis('Convolution2D', 'ksize', self.ksize, 2)
        self.W.initialize((self.out_channels, in_channels // self.groups, kh, kw))

    @classmethod
    def from_params(
        cls,
        W: VariableLike,
        b: VariableLike | None = None,
        stride: PerAxis = 1,
        pad: PerAxis = 0,
        nobias: bool = False,
        *,
        dilate: PerAxis = 1,
        groups: int = 1,
    ) -> tp.Self:
        """Make the link from a weight and a bias.

        Args:
            W (array or Variable): (outs, ins / groups, kh, kw); it is copied.
            b (array or Variable): (outs,); it is copied.
            stride (int or pair of int): Steps of the window.
            pad (int or pair of int): Zeros around the images.
            nobias (bool): Whether there is no bias.
            dilate (int or pair of int): Distance of the elements of the window.
            groups (int): Outputs of a group see the inputs of that group alone.

        Returns:
            Convolution2D: A new one.

        Raises:
            ValueError: If the sizes of `W` and `b` differ.
        """
        _convolution.check_bias_of_params(W, b)
        out_channels, in_channels, kh, kw = W.shape
        return cls(
            in_channels * groups,
            out_channels,
            (kh, kw),
            stride,
            pad,
            nobias,
            initialW=_convolution.as_array(W),
            initial_bias=_convolution.as_array(b),
            dilate=dilate,
            groups=groups,
        )

    @property
    def printable_specs(self) -> Iterator[tuple[str, object]]:
        for name in ('in_channels', 'out_channels', 'ksize', 'stride', 'pad'):
            yield name, getattr(self, name)
        yield 'nobias', self.b is None
        yield 'dilate', self.dilate
        yield 'groups', self.groups

    def _convolve(self, x: VariableLike) -> Variable:
        return convolution_2d(
            x,
            self.W,
            self.b,
            self.stride,
            self.pad,
            dilate=self.dilate,
            groups=self.groups,
            cudnn_fast=self.cudnn_fast,
        )
