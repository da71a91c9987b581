"""The means of windows over images."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer.functions.pooling._sizes import to_geometry
from chainer.functions.pooling.average_pooling_nd import average_pooling_nd
from chainer.functions.pooling.pooling_2d import Pooling2D

if tp.TYPE_CHECKING:
    from chainer._typing import PerAxis, VariableLike


class AveragePooling2D(Pooling2D):
    """See `average_pooling_2d`."""

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
        cover_all: bool,
        return_indices: bool,
    ) -> chainerx.ndarray:
        return chainerx.average_pool(x, (kh, kw), (sy, sx), (ph, pw), 'zero', cover_all)


@documented_like(average_pooling_nd)
def average_pooling_2d(
    x: VariableLike, ksize: PerAxis, stride: PerAxis | None = None, pad: PerAxis = 0
) -> variable.Variable:
    """The mean of each window that slides over images; zeros around them count, too.

    Args:
        x (Variable or array): (N, C, H, W), a float dtype.
    """
    (kh, kw), (sy, sx), (ph, pw) = to_geometry('average_pooling_2d', 2, ksize, stride, pad)
    return AveragePooling2D.call(
        x,
        kh=kh,
        kw=kw,
        sy=sy,
        sx=sx,
        ph=ph,
        pw=pw,
        cover_all=False,
        return_indices=False,
    )
