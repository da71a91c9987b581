"""Transposed convolution of images."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import _conv_transpose

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions._windows import per_axis
from chainer.functions.connection.convolution_2d import REMOVED, REMOVED_IN_CLASS, check_bias
from chainer.utils import argument, conv, type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, PerAxis, VariableLike

OP: tp.Final = 'deconvolution_2d'


class Deconvolution2DFunction(BuiltinFunction):
    """See `deconvolution_2d`."""

    saved = ('outh', 'outw')

    def __init__(
        self,
        stride: PerAxis = 1,
        pad: PerAxis = 0,
        outsize: PerAxis | None = None,
        **kwargs: object,
    ) -> None:
        dilate, self.groups = argument.parse_kwargs(
            kwargs, ('dilate', 1), ('groups', 1), **REMOVED_IN_CLASS
        )
        self.sy, self.sx = per_axis(OP, 'stride', stride, 2)
        self.ph, self.pw = per_axis(OP, 'pad', pad, 2)
        self.dy, self.dx = per_axis(OP, 'dilate', dilate, 2)
        self.outh, self.outw = _sizes(outsize)

    def check_type_forward(self, in_types: InTypes) -> None:
        check_types(
            in_types,
            2,
            (self.sy, self.sx),
            (self.ph, self.pw),
            (self.outh, self.outw),
            (self.dy, self.dx),
            self.groups,
        )

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
        outh: int | None = None,
        outw: int | None = None,
        dy: int = 1,
        dx: int = 1,
        groups: int = 1,
    ) -> tuple[chainerx.ndarray, int, int]:
        outsize = None
        if outh is not None or outw is not None:
            (h, width), (kh, kw) = x.shape[2:], w.shape[2:]
            outsize = (
                conv.get_deconv_outsize(h, kh, sy, ph, d=dy) if outh is None else outh,
                conv.get_deconv_outsize(width, kw, sx, pw, d=dx) if outw is None else outw,
            )
        y = _conv_transpose(x, w, b, (sy, sx), (ph, pw), outsize, (dy, dx), groups)
        outh, outw = y.shape[2:]
        return y, outh, outw


def _sizes(outsize: PerAxis | None) -> tp.Sequence[int | None]:
    return (None, None) if outsize is None else per_axis(OP, 'outsize', outsize, 2)


def check_types(
    in_types: InTypes,
    ndim: int,
    stride: tuple[int, ...],
    pad: tuple[int, ...],
    outsize: tuple[int | None, ...],
    dilate: tuple[int, ...],
    groups: int,
) -> None:
    """The type check of transposed convolutions of any number of axes."""
    n_in = type_check.eval(in_types.size())
    type_check.expect(n_in >= 2, n_in <= 3)
    type_check._argname(in_types, ('x', 'W', 'b')[:n_in])
    x, w = in_types[:2]
    type_check.expect(
        x.dtype.kind == 'f', w.dtype.kind == 'f', x.ndim == ndim + 2, w.ndim == ndim + 2
    )
    type_check.expect(x.shape[1] == w.shape[0])
    for i, out in enumerate(outsize):
        if out is None:
            continue
        size = (out, w.shape[i + 2], stride[i], pad[i])
        type_check.expect(
            x.shape[i + 2] >= conv.get_conv_outsize(*size, d=dilate[i]),
            x.shape[i + 2] <= conv.get_conv_outsize(*size, cover_all=True, d=dilate[i]),
        )
    if n_in == 3:
        check_bias(in_types[2], w.shape[1] * groups)


def deconvolution_2d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: PerAxis = 1,
    pad: PerAxis = 0,
    outsize: PerAxis | None = None,
    *,
    dilate: PerAxis = 1,
    groups: int = 1,
    **removed: object,
) -> variable.Variable:
    """Transposed convolution of images: the gradient of `convolution_2d` in its input.

    Args:
        x (Variable or array): (N, ins, H, W), a float dtype.
        W (Variable or array): (ins, outs / groups, kh, kw), a float dtype.
        b (Variable or array): (outs,), a float dtype; or None.
        stride (int or pair of int): Distance of the windows in the output.
        pad (int or pair of int): The border that is cut off the output.
        outsize (pair of int): Height and width of the output: some of which `convolution_2d` would
            make those of ``x``, with ``cover_all`` or without. None: those below.
        dilate (int or pair of int): Distance of the elements of the window.
        groups (int): As that of `convolution_2d`.

    Returns:
        Variable: (N, outs, out_h, out_w) in the dtype of ``x``, where ``out_h = stride * (H - 1) +
        window - 2 * pad`` and ``window = dilate * (kh - 1) + 1``. Differentiable in all of them,
        any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        TypeError: If a value for the axes is neither an int nor a sequence of them.
        ValueError: If nothing is left of the output, or for a ``stride`` of 0 and the like.
    """
    if removed:
        argument.check_unexpected_kwargs(removed, **REMOVED)
        argument.assert_kwargs_empty(removed)
    sy, sx = per_axis(OP, 'stride', stride, 2)
    ph, pw = per_axis(OP, 'pad', pad, 2)
    dy, dx = per_axis(OP, 'dilate', dilate, 2)
    outh, outw = _sizes(outsize)
    return Deconvolution2DFunction.call(
        x, W, b, sy=sy, sx=sx, ph=ph, pw=pw, outh=outh, outw=outw, dy=dy, dx=dx, groups=groups
    )
