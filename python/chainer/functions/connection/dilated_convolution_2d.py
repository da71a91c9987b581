"""Convolution of images whose window has gaps."""

from __future__ import annotations

import typing as tp

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer.functions.connection.convolution_2d import convolution_2d

if tp.TYPE_CHECKING:
    from chainer._typing import PerAxis, VariableLike


@documented_like(convolution_2d)
def dilated_convolution_2d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: PerAxis = 1,
    pad: PerAxis = 0,
    dilate: PerAxis = 1,
    cover_all: bool = False,
) -> variable.Variable:
    """As `convolution_2d`, which has this parameter as well.

    Args:
        W (Variable or array): (outs, ins, kh, kw), a float dtype.

    Source: Yu and Koltun, ICLR 2016.
    """
    return convolution_2d(x, W, b, stride, pad, cover_all, dilate=dilate)
