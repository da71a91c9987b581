"""Images made larger: each element in all places of a window."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer.functions.pooling._sizes import to_geometry, to_tuple
from chainer.functions.pooling.pooling_2d import Pooling2D
from chainer.functions.pooling.unpooling_nd import unpooling_nd

if tp.TYPE_CHECKING:
    from chainer._typing import PerAxis, VariableLike


class Unpooling2D(Pooling2D):
    """See `unpooling_2d`.

    Attributes:
        outh, outw: Size of the output, before a call None where it follows from that of the input.
    """

    saved = ('outh', 'outw')

    def __init__(
        self,
        ksize: PerAxis,
        stride: PerAxis | None = None,
        pad: PerAxis = 0,
        outsize: PerAxis | None = None,
        cover_all: bool = True,
    ) -> None:
        super().__init__(ksize, stride, pad, cover_all)
        self.outh, self.outw = to_outsize(type(self).__name__, outsize)

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
        outh: int | None,
        outw: int | None,
    ) -> tuple[chainerx.ndarray, int, int]:
        outsize = None if outh is None or outw is None else (outh, outw)
        y = chainerx.unpool(x, (kh, kw), (sy, sx), (ph, pw), outsize, cover_all)
        return y, y.shape[2], y.shape[3]


def to_outsize(op: str, outsize: tp.Any) -> tuple[int | None, int | None]:
    """Height and width, or a pair of None."""
    if outsize is None:
        return None, None
    height, width = to_tuple(op, 'outsize', outsize, 2)
    return height, width


@documented_like(unpooling_nd)
def unpooling_2d(
    x: VariableLike,
    ksize: PerAxis,
    stride: PerAxis | None = None,
    pad: PerAxis = 0,
    outsize: PerAxis | None = None,
    cover_all: bool = True,
) -> variable.Variable:
    """Puts each element of images to all places of its window; where windows overlap, the sum.

    Args:
        x (Variable or array): (N, C, H, W), a float dtype.

    Source: Dosovitskiy et al., CVPR 2015.
    """
    op = 'unpooling_2d'
    (kh, kw), (sy, sx), (ph, pw) = to_geometry(op, 2, ksize, stride, pad)
    outh, outw = to_outsize(op, outsize)
    return Unpooling2D.call(
        x,
        kh=kh,
        kw=kw,
        sy=sy,
        sx=sx,
        ph=ph,
        pw=pw,
        cover_all=cover_all,
        return_indices=False,
        outh=outh,
        outw=outw,
    )
