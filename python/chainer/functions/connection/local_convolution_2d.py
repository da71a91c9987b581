"""Convolution of images with a window of its own at each place."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.gradients import recomputed
from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions._windows import per_axis, windows
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, PerAxis, VariableLike

OP: tp.Final = 'local_convolution_2d'


def _product(x: chainerx.ndarray, w: chainerx.ndarray, sy: int, sx: int) -> chainerx.ndarray:
    outs, oh, ow, ins, kh, kw = w.shape
    # One product of matrices for each place: images by windows, windows by channels.
    columns = windows(x, (kh, kw), (sy, sx), (oh, ow))
    columns = columns.transpose(3, 4, 0, 1, 2).reshape(oh, ow, len(x), ins * kh * kw)
    weights = w.transpose(1, 2, 3, 4, 5, 0).reshape(oh, ow, ins * kh * kw, outs)
    y = chainerx.matmul(columns, weights).transpose(2, 3, 0, 1)
    return chainerx.ascontiguousarray(y.astype(x.dtype, copy=False))


_recomputed = recomputed(OP, _product, 2)


class LocalConvolution2DFunction(BuiltinFunction):
    """See `local_convolution_2d`."""

    def __init__(self, stride: PerAxis = 1) -> None:
        self.sy, self.sx = per_axis(OP, 'stride', stride, 2)
        _check_stride(self.sy, self.sx)

    def check_type_forward(self, in_types: InTypes) -> None:
        n_in = type_check.eval(in_types.size())
        type_check.expect(n_in >= 2, n_in <= 3)
        type_check._argname(in_types, ('x', 'W', 'b')[:n_in])
        x, w = in_types[:2]
        type_check.expect(x.dtype.kind == 'f', w.dtype.kind == 'f', x.ndim == 4, w.ndim == 6)
        type_check.expect(
            x.shape[1] == w.shape[3],
            w.shape[4] > 0,
            w.shape[5] > 0,
            x.shape[2] >= (w.shape[1] - 1) * self.sy + w.shape[4],
            x.shape[3] >= (w.shape[2] - 1) * self.sx + w.shape[5],
        )
        if n_in == 3:
            b = in_types[2]
            type_check.expect(b.dtype == x.dtype, b.ndim == 3)
            type_check.expect(b.shape == w.shape[:3])

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        w: chainerx.ndarray,
        b: chainerx.ndarray | None = None,
        *,
        sy: int = 1,
        sx: int = 1,
    ) -> chainerx.ndarray:
        y = _recomputed(x, w, sy, sx)
        return y if b is None else (y + b).astype(x.dtype, copy=False)


def _check_stride(sy: int, sx: int) -> None:
    if sy < 1 or sx < 1:
        raise ValueError(f'{OP}: stride is ({sy}, {sx}), expected at least 1')


def local_convolution_2d(
    x: VariableLike, W: VariableLike, b: VariableLike | None = None, stride: PerAxis = 1
) -> variable.Variable:
    """As `convolution_2d`, but each place of the output has weights of its own.

    Args:
        x (Variable or array): (N, ins, H, W), a float dtype.
        W (Variable or array): (outs, out_h, out_w, ins, kh, kw), a float dtype.
        b (Variable or array): (outs, out_h, out_w), of the dtype of ``x``; or None.
        stride (int or pair of int): Steps of the window.

    Returns:
        Variable: (N, outs, out_h, out_w) in the dtype of ``x``. Differentiable in all of them, any
        order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        TypeError: If a value for the axes is neither an int nor a sequence of them.
        ValueError: If ``stride`` is not positive.
    """
    sy, sx = per_axis(OP, 'stride', stride, 2)
    _check_stride(sy, sx)
    return LocalConvolution2DFunction.call(x, W, b, sy=sy, sx=sx)
