"""The convolution whose taps are moved, each by an offset of its own."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.gradients import recomputed
from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions._windows import per_axis
from chainer.functions.array.spatial_transformer_sampler import neighbours
from chainer.utils import conv, type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, PerAxis, VariableLike

_NAME: tp.Final = 'deformable_convolution_2d_sampler'


def _compute(
    x: chainerx.ndarray,
    offset: chainerx.ndarray,
    w: chainerx.ndarray,
    stride: tuple[int, int],
    pad: tuple[int, int],
) -> chainerx.ndarray:
    n, channels, height, width = x.shape
    outs, _, kh, kw = w.shape
    taps, (oh, ow) = kh * kw, offset.shape[2:]

    def places(k: int, size: int, step: int, before: int, tap_axis: int) -> chainerx.ndarray:
        """Where the taps would be without offsets, along one axis: (1, taps, oh, ow)."""
        tap = chainerx.arange(k, dtype=offset.dtype, device=x.device)
        tap = chainerx.broadcast_to(tap.reshape((k, 1) if tap_axis == 0 else (1, k)), (kh, kw))
        at = chainerx.arange(size, dtype=offset.dtype, device=x.device) * step - before
        at = at.reshape((1, 1, size, 1) if tap_axis == 0 else (1, 1, 1, size))
        return tap.reshape(1, taps, 1, 1) + at

    across = neighbours(offset[:, :taps] + places(kw, ow, stride[1], pad[1], 1), width)
    down = neighbours(offset[:, taps:] + places(kh, oh, stride[0], pad[0], 0), height)
    pixels = x.transpose(0, 2, 3, 1).reshape(n * height * width, channels)
    first = chainerx.arange(n, dtype='int64', device=x.device).reshape(n, 1, 1, 1)
    terms = [
        pixels.take(first * (height * width) + row * width + column, 0)
        * chainerx.expand_dims(row_weight * column_weight, 4)
        for row, row_weight in down
        for column, column_weight in across
    ]
    sampled = terms[0] + terms[1] + terms[2] + terms[3]  # (n, taps, oh, ow, channels)
    columns = sampled.transpose(0, 2, 3, 1, 4).reshape(n * oh * ow, taps * channels)
    weights = w.transpose(2, 3, 1, 0).reshape(taps * channels, outs)
    return chainerx.matmul(columns, weights).reshape(n, oh, ow, outs).transpose(0, 3, 1, 2)


# Keeps no samples.
_computed_again = recomputed(_NAME, _compute, n_params=2)


class DeformableConvolution2DSampler(BuiltinFunction):
    """See `deformable_convolution_2d_sampler`."""

    stride: tuple[int, ...]
    pad: tuple[int, ...]

    def _prepare(self) -> None:
        self.stride, self.pad = _check_steps(self.stride, self.pad)

    def check_type_forward(self, in_types: InTypes) -> None:
        n_in = type_check.eval(in_types.size())
        type_check.expect(in_types.size() >= 3, in_types.size() <= 4)
        type_check._argname(in_types, ('x', 'offset', 'W', 'b')[:n_in])
        x, offset, w = in_types[:3]
        type_check.expect(x.dtype.kind == 'f', x.ndim == 4, offset.ndim == 4, w.ndim == 4)
        type_check.expect(w.dtype.kind == 'f')
        type_check.expect(*[other.dtype == x.dtype for other in (offset, *in_types[3:])])
        kh, kw = (type_check.eval(w.shape[i]) for i in (2, 3))
        type_check.expect(
            w.shape[1] == x.shape[1],
            offset.shape[0] == x.shape[0],
            offset.shape[1] == type_check.make_variable(2 * kh * kw, '2 * kh * kw'),
        )
        for i, (k, s, p) in enumerate(zip((kh, kw), self.stride, self.pad, strict=True), 2):
            size = conv.get_conv_outsize(type_check.eval(x.shape[i]), k, s, p)
            type_check.expect(offset.shape[i] == type_check.make_variable(size, 'output size'))
        if n_in == 4:
            b = in_types[3]
            type_check.expect(b.ndim == 1, b.shape[0] == w.shape[0])

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        offset: chainerx.ndarray,
        w: chainerx.ndarray,
        b: chainerx.ndarray | None = None,
        *,
        stride: PerAxis = 1,
        pad: PerAxis = 0,
    ) -> chainerx.ndarray:
        if 0 in x.shape[2:] and offset.size != 0:
            raise ValueError(f'{_NAME}: x has shape {x.shape}, there is nothing to sample')
        y = _computed_again(x, offset, w, stride, pad)
        y = y if b is None else y + b.reshape(1, len(b), 1, 1)
        return y.astype(x.dtype, copy=False)


def _check_steps(stride: PerAxis, pad: PerAxis) -> tuple[tuple[int, ...], tuple[int, ...]]:
    stride = per_axis(_NAME, 'stride', stride, 2)
    pad = per_axis(_NAME, 'pad', pad, 2)
    if min(stride) < 1 or min(pad) < 0:
        raise ValueError(
            f'{_NAME}: stride is {stride} and pad {pad}, expected at least 1 and at least 0'
        )
    return stride, pad


def deformable_convolution_2d_sampler(
    x: VariableLike,
    offset: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: PerAxis = 1,
    pad: PerAxis = 0,
) -> variable.Variable:
    """A convolution each tap of which is moved at each place, by bilinear interpolation.

    Args:
        x (Variable or array): (N, channels, H, W), a float dtype.
        offset (Variable or array): (N, 2 * kh * kw, out_h, out_w), the same dtype: how far each
            tap is moved across, and then how far each is moved down, in pixels.
        W (Variable or array): (outs, channels, kh, kw), a float dtype.
        b (Variable or array): (outs,), the same dtype, or None.
        stride (int or pair of ints): The step from place to place, down and across.
        pad (int or pair of ints): Width of the zeros around images, of which there are as many as
            offsets need.

    Returns:
        Variable: (N, outs, out_h, out_w) in the dtype of ``x``. Differentiable in all of them, any
        order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If images are empty.

    Source: Dai et al., ICCV 2017.
    """
    stride, pad = _check_steps(stride, pad)
    return DeformableConvolution2DSampler.call(x, offset, W, b, stride=stride, pad=pad)
