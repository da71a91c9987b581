"""Base classes of convolution links."""

from __future__ import annotations

import typing as tp

from chainer import initializers
from chainer.link import Link
from chainer.utils import type_check
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, NdArray, ShapeSpec, VariableLike


class ConvolutionLink(Link):
    """Base of links with a bias, and a weight whose shape may wait for the first input."""

    out_channels: int
    b: Parameter | None

    def _add_params(
        self,
        in_channels: int | None,
        nobias: bool,
        initialW: InitializerSpec | None,
        initial_bias: InitializerSpec | None,
    ) -> None:
        """Ends construction; runs last, because `_initialize_params` needs the attributes."""
        with self.init_scope():
            self.W = weight(initialW)
            if in_channels is not None:
                self._initialize_params(in_channels)
            self.b = None if nobias else bias(initial_bias, self.out_channels)

    def _initialize_params(self, in_channels: int) -> None:
        raise NotImplementedError

    def _n_axes(self) -> int:
        """The number of spatial axes."""
        return 2

    def _convolve(self, x: VariableLike) -> Variable:
        raise NotImplementedError

    def forward(self, x: VariableLike) -> Variable:
        """Apply the layer.

        Args:
            x (Variable or array): (N, in_channels, H, W), or (N, in_channels, d_1, ..., d_n).

        Returns:
            Variable: (N, out_channels, out_h, out_w), or (N, out_channels, l_1, ..., l_n).
        """
        if self.W.array is None:
            self._initialize_params(channels(x, self._n_axes() + 2))
        return self._convolve(x)


def bias(initializer: InitializerSpec | None, shape: ShapeSpec | None = None) -> Parameter:
    """The parameter of a bias, of zeros where no initializer is given."""
    return Parameter(
        initializers._get_initializer(0 if initializer is None else initializer), shape
    )


def weight(initializer: InitializerSpec | None) -> Parameter:
    """The parameter of a weight, without a shape as yet."""
    return Parameter(initializers._get_initializer(initializer))


def channels(x: VariableLike, ndim: int) -> int:
    """The channels of an input, for a link that learns their number from it.

    Raises:
        InvalidType: If it has another number of axes; the link must not be made for it.
    """
    type_check.expect(type_check.Variable(x.ndim, 'x.ndim') == ndim)
    return tp.cast(int, x.shape[1])


def check_groups(op: str, in_channels: int, out_channels: int, groups: int) -> None:
    """Refuses channels that groups do not divide."""
    if groups < 1:
        raise ValueError(f'{op}: groups is {groups}, expected at least 1')
    for name, channels in (('out', out_channels), ('in', in_channels)):
        if channels % groups != 0:
            raise ValueError(
                f'{op}: groups is {groups}, which does not divide {name}_channels, {channels}'
            )


def check_bias_of_params(W: VariableLike, b: VariableLike) -> None:
    """Refuses a bias whose length is not that of the outputs of a weight."""
    if b is not None and W.shape[0] != b.size:
        raise ValueError(
            f'`out_channels` does not match the size of `b`: W.shape is {W.shape}, b.size {b.size}'
        )


def as_array(x: VariableLike) -> NdArray:
    return x.array if isinstance(x, Variable) else x
