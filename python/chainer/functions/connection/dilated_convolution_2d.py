"""Convolution of images whose window has gaps."""

from __future__ import annotations

import typing as tp

from chainer import variable
from chainer.functions.connection.convolution_2d import convolution_2d


def dilated_convolution_2d(
    x: tp.Any,
    W: tp.Any,
    b: tp.Any = None,
    stride: tp.Any = 1,
    pad: tp.Any = 0,
    dilate: tp.Any = 1,
    cover_all: bool = False,
) -> variable.Variable:
    """As `convolution_2d`, which has this parameter as well.

    Args:
        x (Variable or array): (N, ins, H, W), a float dtype.
        W (Variable or array): (outs, ins, kh, kw), a float dtype.
        b (Variable or array): (outs,), a float dtype; or None.
        stride (int or pair of int): Steps of the window.
        pad (int or pair of int): Zeros around the images.
        dilate (int or pair of int): Distance of the elements of the window.
        cover_all (bool): Whether all pixels are seen, if need be by one more step.

    Returns:
        Variable: (N, outs, out_h, out_w). Differentiable in all of them, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        TypeError: If what is given for the axes is neither an int nor a sequence of them.
        ValueError: If the window is larger than the padded images.

    Source: Yu and Koltun, ICLR 2016.
    """
    return convolution_2d(x, W, b, stride, pad, cover_all, dilate=dilate)
