"""`DeformableConvolution2D`: the convolution that learns where its taps are."""

from __future__ import annotations

import typing as tp

from chainer._base.docstrings import documented_like
from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions._windows import per_axis
from chainer.functions.connection.deformable_convolution_2d_sampler import (
    deformable_convolution_2d_sampler,
)
from chainer.link import Chain, Link
from chainer.links.connection import _convolution
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, PerAxis, VariableLike


@documented_like(Convolution2D)
class DeformableConvolution2D(Chain):
    """A convolution whose taps move by offsets that another convolution computes.

    Args:
        in_channels: Channels of the input. None: taken from the first input.
        offset_nobias: Whether the convolution that gives offsets has no bias.
        offset_initialW: Initializer of its weights; `LeCunNormal` by default.
        offset_initial_bias: Initializer of its bias; 0 by default.
        deform_nobias: Whether the deformed convolution has no bias.
        deform_initialW: Initializer of its weights; 0 by default.
        deform_initial_bias: Initializer of its bias; 0 by default.

    Attributes:
        offset_conv (Convolution2D): Gives the offsets.
        deform_conv (DeformableConvolution2DSampler): The deformed convolution.

    Source: Dai et al., ICCV 2017.
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: PerAxis,
        stride: PerAxis = 1,
        pad: PerAxis = 0,
        offset_nobias: bool = False,
        offset_initialW: InitializerSpec | None = None,
        offset_initial_bias: InitializerSpec | None = None,
        deform_nobias: bool = False,
        deform_initialW: InitializerSpec | None = None,
        deform_initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        kh, kw = per_axis('DeformableConvolution2D', 'ksize', ksize, 2)
        with self.init_scope():
            self.offset_conv = Convolution2D(
                in_channels,
                2 * kh * kw,
                ksize,
                stride,
                pad,
                offset_nobias,
                offset_initialW,
                offset_initial_bias,
            )
            self.deform_conv = DeformableConvolution2DSampler(
                in_channels,
                out_channels,
                ksize,
                stride,
                pad,
                deform_nobias,
                deform_initialW,
                deform_initial_bias,
            )

    def forward(self, x: VariableLike) -> Variable:
        """Apply the layer.

        Args:
            x (Variable or array): (N, in_channels, H, W).

        Returns:
            Variable: (N, out_channels, out_h, out_w).
        """
        return self.deform_conv(x, self.offset_conv(x))


@documented_like(Convolution2D)
class DeformableConvolution2DSampler(Link):
    """See `chainer.functions.deformable_convolution_2d_sampler`.

    Args:
        in_channels: Channels of the input. None: taken from the first input.
        initialW: Initializer of `W`; 0 by default.

    Attributes:
        W (Parameter): ``(out_channels, in_channels, kh, kw)``.
        b (Parameter): ``(out_channels,)``, or None.
    """

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
    ) -> None:
        super().__init__()
        self.ksize = ksize
        self.stride = per_axis('DeformableConvolution2DSampler', 'stride', stride, 2)
        self.pad = per_axis('DeformableConvolution2DSampler', 'pad', pad, 2)
        self.out_channels = out_channels
        self.initialW = 0 if initialW is None else initialW
        with self.init_scope():
            self.W = _convolution.weight(self.initialW)
            self.b = None if nobias else _convolution.bias(initial_bias)
        if in_channels is not None:
            self._initialize_params(in_channels)

    def _initialize_params(self, in_channels: int) -> None:
        kernel = per_axis('DeformableConvolution2DSampler', 'ksize', self.ksize, 2)
        self.W.initialize((self.out_channels, in_channels, *kernel))
        if self.b is not None:
            self.b.initialize(self.out_channels)

    def forward(self, x: VariableLike, offset: VariableLike) -> Variable:
        """Apply the convolution.

        Args:
            x (Variable or array): (N, in_channels, H, W).
            offset (Variable or array): (N, 2 * kh * kw, out_h, out_w).

        Returns:
            Variable: (N, out_channels, out_h, out_w).
        """
        if self.W.array is None:
            self._initialize_params(x.shape[1])
        return deformable_convolution_2d_sampler(
            x, offset, self.W, self.b, stride=self.stride, pad=self.pad
        )
