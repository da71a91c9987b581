"""The patches of images as columns."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions._windows import per_axis, windows
from chainer.utils import conv, type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, PerAxis, VariableLike


class Im2Col(BuiltinFunction):
    """See `im2col`."""

    def __init__(
        self, ksize: PerAxis, stride: PerAxis, pad: PerAxis, cover_all: bool, dilate: PerAxis
    ) -> None:
        self.kh, self.kw = per_axis('im2col', 'ksize', ksize, 2)
        self.sy, self.sx = per_axis('im2col', 'stride', stride, 2)
        self.ph, self.pw = per_axis('im2col', 'pad', pad, 2)
        self.dy, self.dx = per_axis('im2col', 'dilate', dilate, 2)
        self.cover_all = cover_all
        _check(self.kh, self.kw, self.sy, self.sx, self.ph, self.pw, self.dy, self.dx)

    check_uses_attributes = False

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        (x,) = in_types
        type_check.expect(x.dtype.kind == 'f', x.ndim == 4)

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        *,
        kh: int,
        kw: int,
        sy: int,
        sx: int,
        ph: int,
        pw: int,
        dy: int,
        dx: int,
        cover_all: bool,
    ) -> chainerx.ndarray:
        n, c, h, w = x.shape
        oh = conv.get_conv_outsize(h, kh, sy, ph, cover_all, dy)
        ow = conv.get_conv_outsize(w, kw, sx, pw, cover_all, dx)
        if oh < 1 or ow < 1:
            raise ValueError(
                f'im2col: x.shape is {x.shape}, and no patch of ksize ({kh}, {kw}) with dilate '
                f'({dy}, {dx}) fits into it with pad ({ph}, {pw})'
            )
        # The last window needs at most one step of extra padding.
        more = (sy - 1, sx - 1) if cover_all else (0, 0)
        if ph or pw or cover_all:
            x = chainerx.pad(x, ((0, 0), (0, 0), (ph, ph + more[0]), (pw, pw + more[1])))
        patches = windows(x, (kh, kw), (sy, sx), (oh, ow), (dy, dx))
        return patches.reshape(n, c * kh * kw, oh, ow)


def _check(kh: int, kw: int, sy: int, sx: int, ph: int, pw: int, dy: int, dx: int) -> None:
    for name, pair, least in (
        ('ksize', (kh, kw), 1),
        ('stride', (sy, sx), 1),
        ('pad', (ph, pw), 0),
        ('dilate', (dy, dx), 1),
    ):
        if min(pair) < least:
            raise ValueError(f'im2col: {name} is {pair}, expected at least {least}')


def im2col(
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis = 1,
    pad: PerAxis = 0,
    cover_all: bool = False,
    dilate: PerAxis = 1,
) -> variable.Variable:
    """The patches that the window of a convolution sees, as channels.

    Args:
        x (Variable or array): (N, C, H, W), a float dtype.
        ksize (int or pair of int): Height and width of the window.
        stride (int or pair of int): Steps of the window.
        pad (int or pair of int): Zeros around the images.
        cover_all (bool): Whether all pixels are seen, if need be by one more step.
        dilate (int or pair of int): Distance of the elements of the window.

    Returns:
        Variable: (N, C * kh * kw, out_h, out_w): for each channel its pixels in the order of the
        window. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is no such array.
        TypeError: If a value for the axes is neither an int nor a sequence of them.
        ValueError: If the window is larger than the padded images, or for a ``stride`` of 0 and the
            like.
    """
    kh, kw = per_axis('im2col', 'ksize', ksize, 2)
    sy, sx = per_axis('im2col', 'stride', stride, 2)
    ph, pw = per_axis('im2col', 'pad', pad, 2)
    dy, dx = per_axis('im2col', 'dilate', dilate, 2)
    _check(kh, kw, sy, sx, ph, pw, dy, dx)
    return Im2Col.call(
        x, kh=kh, kw=kw, sy=sy, sx=sx, ph=ph, pw=pw, dy=dy, dx=dx, cover_all=cover_all
    )
