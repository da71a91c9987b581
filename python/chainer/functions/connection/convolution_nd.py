"""Convolution over any number of axes."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import _conv

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer._graph.builtin import BuiltinFunction
from chainer.functions._windows import per_axis
from chainer.functions.connection.convolution_2d import check_types

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, PerAxis, VariableLike

OP: tp.Final = 'convolution_nd'


class ConvolutionND(BuiltinFunction):
    """See `convolution_nd`."""

    def _prepare(self) -> None:
        for name in ('stride', 'pad', 'dilate'):
            setattr(self, name, per_axis(OP, name, getattr(self, name), self.ndim))

    def check_type_forward(self, in_types: InTypes) -> None:
        check_types(in_types, self.ndim, self.groups)

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        w: chainerx.ndarray,
        b: chainerx.ndarray | None = None,
        *,
        ndim: int,
        stride: PerAxis = 1,
        pad: PerAxis = 0,
        cover_all: bool = False,
        dilate: PerAxis = 1,
        groups: int = 1,
    ) -> chainerx.ndarray:
        if ndim == 0:
            return over_one_axis(_conv, x, w, b, 1, 0, cover_all, 1, groups)
        return _conv(x, w, b, stride, pad, cover_all, dilate, groups)


def over_one_axis(
    convolve: tp.Callable[..., chainerx.ndarray],
    x: chainerx.ndarray,
    w: chainerx.ndarray,
    *arguments: tp.Any,
) -> chainerx.ndarray:
    """A convolution over no axes: over one of length 1."""
    return convolve(x[..., None], w[..., None], *arguments)[..., 0]


def convolution_nd(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: PerAxis = 1,
    pad: PerAxis = 0,
    cover_all: bool = False,
    dilate: PerAxis = 1,
    groups: int = 1,
) -> variable.Variable:
    """Convolution over 0 to 8 axes, or rather cross-correlation: `W` is not flipped.

    Args:
        x (Variable or array): (N, ins, d_1, ..., d_n), a float dtype.
        W (Variable or array): (outs, ins / groups, k_1, ..., k_n), a float dtype.
        b (Variable or array): (outs,), a float dtype; or None.
        stride (int or tuple of int): Steps of the window.
        pad (int or tuple of int): Zeros at both ends of each axis.
        cover_all (bool): Whether all elements are seen, if need be by one more step.
        dilate (int or tuple of int): Distance of the elements of the window.
        groups (int): Outputs of a group see the inputs of that group alone.

    Returns:
        Variable: (N, outs, l_1, ..., l_n) in the dtype of ``x``, where ``l = (d + 2 * pad - window)
        // stride + 1`` and ``window = dilate * (k - 1) + 1``. Differentiable in all of them, any
        order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        TypeError: If a value for the axes is neither an int nor a sequence of them.
        ValueError: If the window is longer than a padded axis, or for a ``stride`` of 0 and the
            like.
    """
    ndim = len(x.shape) - 2
    return ConvolutionND.call(
        x,
        W,
        b,
        ndim=ndim,
        stride=per_axis(OP, 'stride', stride, ndim),
        pad=per_axis(OP, 'pad', pad, ndim),
        cover_all=cover_all,
        dilate=per_axis(OP, 'dilate', dilate, ndim),
        groups=groups,
    )


def check_ndim(op: str, x: VariableLike, ndim: int) -> None:
    """Refuses an input of another number of spatial axes."""
    if len(x.shape) != ndim + 2:
        raise ValueError(
            f'{op}: x.shape is {x.shape}, expected (batch, channels, ...) with {ndim} '
            f'spatial {"axis" if ndim == 1 else "axes"}'
        )


@documented_like(convolution_nd)
def convolution_1d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: PerAxis = 1,
    pad: PerAxis = 0,
    cover_all: bool = False,
    dilate: PerAxis = 1,
    groups: int = 1,
) -> variable.Variable:
    """Convolution over one axis; see `convolution_nd`.

    Raises:
        ValueError: If ``x`` has another number of axes, or the window is longer than a padded one.
    """
    check_ndim('convolution_1d', x, 1)
    return convolution_nd(x, W, b, stride, pad, cover_all, dilate, groups)


@documented_like(convolution_nd)
def convolution_3d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: PerAxis = 1,
    pad: PerAxis = 0,
    cover_all: bool = False,
    dilate: PerAxis = 1,
    groups: int = 1,
) -> variable.Variable:
    """Convolution over three axes; see `convolution_nd`.

    Raises:
        ValueError: If ``x`` has another number of axes, or the window is longer than a padded one.
    """
    check_ndim('convolution_3d', x, 3)
    return convolution_nd(x, W, b, stride, pad, cover_all, dilate, groups)
