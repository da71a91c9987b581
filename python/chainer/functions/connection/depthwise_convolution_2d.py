"""Convolution of each channel of images by itself."""

from __future__ import annotations

import typing as tp

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer.functions.array import reshape, transpose
from chainer.functions.connection.convolution_2d import convolution_2d

if tp.TYPE_CHECKING:
    from chainer._typing import PerAxis, VariableLike


@documented_like(convolution_2d)
def depthwise_convolution_2d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: PerAxis = 1,
    pad: PerAxis = 0,
) -> variable.Variable:
    """Convolution in which each channel is seen alone, by several windows.

    Args:
        W (Variable or array): (multiplier, ins, kh, kw), a float dtype.
        b (Variable or array): (ins * multiplier,), a float dtype; or None.

    Returns:
        Variable: (N, ins * multiplier, out_h, out_w): all of the first channel, then all of the
        second. Differentiable in all of them, any order.

    Source: Chollet, CVPR 2017.
    """
    if len(W.shape) != 4:
        raise ValueError(
            f'depthwise_convolution_2d: W.shape is {W.shape}, expected (multiplier, ins, kh, kw)'
        )
    multiplier, ins, kh, kw = W.shape
    weights = reshape.reshape(transpose.transpose(W, (1, 0, 2, 3)), (ins * multiplier, 1, kh, kw))
    return convolution_2d(x, weights, b, stride, pad, groups=ins)
