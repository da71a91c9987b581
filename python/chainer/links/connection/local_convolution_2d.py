"""`LocalConvolution2D`: convolution of images with a window of its own at each place."""

from __future__ import annotations

import typing as tp

from chainer._base.docstrings import documented_like
from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions._windows import per_axis
from chainer.functions.connection.local_convolution_2d import local_convolution_2d
from chainer.link import Link
from chainer.links.connection import _convolution
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.utils import conv
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, PerAxis, VariableLike


@documented_like(Convolution2D)
class LocalConvolution2D(Link):
    """Convolution without shared weights; see `chainer.functions.local_convolution_2d`.

    Args:
        in_channels: Channels of the input. None: taken from the first input.
        in_size: Height and width of the input, an int or a pair. None: taken from the first input.

    Attributes:
        W (Parameter): Weight, ``(out_channels, out_h, out_w, in_channels, kh, kw)``.
        b (Parameter): Bias, ``(out_channels, out_h, out_w)``, or None.
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        in_size: PerAxis | None = None,
        ksize: PerAxis | None = None,
        stride: PerAxis = 1,
        nobias: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        self.ksize: tp.Any = ksize
        self.stride = per_axis('LocalConvolution2D', 'stride', stride, 2)
        self.nobias = nobias
        self.out_channels = out_channels
        with self.init_scope():
            self.W = _convolution.weight(initialW)
            self.b = None if nobias else _convolution.bias(initial_bias)
            if in_channels is not None and in_size is not None:
                sizes = per_axis('LocalConvolution2D', 'in_size', in_size, 2)
                self._initialize_params(in_channels, sizes)

    def _initialize_params(self, in_channels: int, in_size: tuple[int, ...]) -> None:
        ksize = per_axis('LocalConvolution2D', 'ksize', self.ksize, 2)
        outs = [
            conv.get_conv_outsize(n, k, s, 0)
            for n, k, s in zip(in_size, ksize, self.stride, strict=True)
        ]
        if min(outs) < 1:
            raise ValueError(
                f'LocalConvolution2D: ksize is {ksize}, larger than images of {in_size}'
            )
        self.W.initialize((self.out_channels, *outs, in_channels, *ksize))
        if self.b is not None:
            self.b.initialize((self.out_channels, *outs))

    def forward(self, x: VariableLike) -> Variable:
        """Apply the layer.

        Args:
            x (Variable or array): (N, in_channels, H, W).

        Returns:
            Variable: (N, out_channels, out_h, out_w).
        """
        if self.W.array is None:
            self._initialize_params(_convolution.channels(x, 4), x.shape[2:])
        return local_convolution_2d(x, self.W, self.b, self.stride)
