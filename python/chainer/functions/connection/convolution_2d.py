"""Convolution of images."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import _conv

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions._windows import per_axis
from chainer.utils import argument, type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InType, InTypes, PerAxis, VariableLike

OP: tp.Final = 'convolution_2d'
REMOVED: tp.Final = {
    'deterministic': 'deterministic argument is not supported anymore. '
    "Use chainer.using_config('cudnn_deterministic', ...)"
}
REMOVED_IN_CLASS: tp.Final = {
    **REMOVED,
    'requires_x_grad': 'requires_x_grad argument is not supported anymore. '
    'Backward finds out by itself which gradients are needed',
}


class Convolution2DFunction(BuiltinFunction):
    """See `convolution_2d`."""

    def __init__(
        self, stride: PerAxis = 1, pad: PerAxis = 0, cover_all: bool = False, **kwargs: object
    ) -> None:
        dilate, self.groups, self.cudnn_fast = argument.parse_kwargs(
            kwargs, ('dilate', 1), ('groups', 1), ('cudnn_fast', False), **REMOVED_IN_CLASS
        )
        self.sy, self.sx = per_axis(OP, 'stride', stride, 2)
        self.ph, self.pw = per_axis(OP, 'pad', pad, 2)
        self.dy, self.dx = per_axis(OP, 'dilate', dilate, 2)
        self.cover_all = cover_all

    def check_type_forward(self, in_types: InTypes) -> None:
        check_types(in_types, 2, self.groups)

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        w: chainerx.ndarray,
        b: chainerx.ndarray | None = None,
        *,
        sy: int = 1,
        sx: int = 1,
        ph: int = 0,
        pw: int = 0,
        cover_all: bool = False,
        dy: int = 1,
        dx: int = 1,
        groups: int = 1,
        cudnn_fast: bool = False,
    ) -> chainerx.ndarray:
        return _conv(x, w, b, (sy, sx), (ph, pw), cover_all, (dy, dx), groups)


def check_types(in_types: InTypes, ndim: int, groups: int) -> None:
    """The type check of convolutions of any number of axes."""
    n_in = type_check.eval(in_types.size())
    type_check.expect(n_in >= 2, n_in <= 3)
    type_check._argname(in_types, ('x', 'W', 'b')[:n_in])
    x, w = in_types[:2]
    type_check.expect(
        x.dtype.kind == 'f', w.dtype.kind == 'f', x.ndim == ndim + 2, w.ndim == ndim + 2
    )
    type_check.expect(x.shape[1] == w.shape[1] * groups)
    if n_in == 3:
        check_bias(in_types[2], w.shape[0])


def check_bias(b: InType, outs: InType) -> None:
    """Checks the type of the bias of the output channels."""
    type_check.expect(b.dtype.kind == 'f', b.ndim == 1)
    type_check.expect(b.shape[0] == outs)


def convolution_2d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: PerAxis = 1,
    pad: PerAxis = 0,
    cover_all: bool = False,
    *,
    dilate: PerAxis = 1,
    groups: int = 1,
    cudnn_fast: bool = False,
    **removed: object,
) -> variable.Variable:
    """Convolution of images, or rather cross-correlation: `W` is not flipped.

    Args:
        x (Variable or array): (N, ins, H, W), a float dtype.
        W (Variable or array): (outs, ins / groups, kh, kw), a float dtype.
        b (Variable or array): (outs,), a float dtype; or None.
        stride (int or pair of int): Steps of the window.
        pad (int or pair of int): Zeros around the images.
        cover_all (bool): Whether all pixels are seen, if need be by one more step.
        dilate (int or pair of int): Distance of the elements of the window.
        groups (int): Outputs of a group see the inputs of that group alone.
        cudnn_fast (bool): Accepted; it was for one kind of GPU.

    Returns:
        Variable: (N, outs, out_h, out_w) in the dtype of ``x``, where ``out_h = (H + 2 * pad -
        window) // stride + 1`` and ``window = dilate * (kh - 1) + 1``. Differentiable in all of
        them, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        TypeError: If a value for the axes is neither an int nor a sequence of them.
        ValueError: If the window is larger than the padded images, or for a ``stride`` of 0 and the
            like.
    """
    if removed:
        argument.check_unexpected_kwargs(removed, **REMOVED)
        argument.assert_kwargs_empty(removed)
    sy, sx = per_axis(OP, 'stride', stride, 2)
    ph, pw = per_axis(OP, 'pad', pad, 2)
    dy, dx = per_axis(OP, 'dilate', dilate, 2)
    return Convolution2DFunction.call(
        x,
        W,
        b,
        sy=sy,
        sx=sx,
        ph=ph,
        pw=pw,
        cover_all=cover_all,
        dy=dy,
        dx=dx,
        groups=groups,
        cudnn_fast=cudnn_fast,
    )
