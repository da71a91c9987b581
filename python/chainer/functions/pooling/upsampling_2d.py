"""Images made larger: each element where a maximum was."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer._graph.builtin import _as_chainerx
from chainer.functions.pooling._sizes import to_geometry
from chainer.functions.pooling.pooling_2d import Pooling2D
from chainer.functions.pooling.unpooling_2d import to_outsize, unpooling_2d
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, NdArray, PerAxis, VariableLike


class Upsampling2D(Pooling2D):
    """See `upsampling_2d`.

    Attributes:
        indexes: The places within the windows.
        outh, outw: Size of the output, before a call None where it follows from that of the input.
    """

    check_uses_attributes = True
    saved = ('outh', 'outw')

    def __init__(
        self,
        indexes: NdArray,
        ksize: PerAxis,
        stride: PerAxis | None = None,
        pad: PerAxis = 0,
        outsize: PerAxis | None = None,
        cover_all: bool = True,
    ) -> None:
        super().__init__(ksize, stride, pad, cover_all)
        self.indexes = indexes
        self.outh, self.outw = to_outsize(type(self).__name__, outsize)

    def check_type_forward(self, in_types: InTypes) -> None:
        super().check_type_forward(in_types)
        expected = type_check.make_variable(self.indexes.shape, 'indexes.shape')
        type_check.expect(in_types[0].shape == expected)

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
        indexes: NdArray,
        outh: int | None,
        outw: int | None,
    ) -> tuple[chainerx.ndarray, int, int]:
        outsize = None if outh is None or outw is None else (outh, outw)
        places = _as_chainerx(indexes)
        y = chainerx.max_unpool(x, places, (kh, kw), (sy, sx), (ph, pw), outsize, cover_all)
        return y, y.shape[2], y.shape[3]


@documented_like(unpooling_2d)
def upsampling_2d(
    x: VariableLike,
    indexes: NdArray,
    ksize: PerAxis,
    stride: PerAxis | None = None,
    pad: PerAxis = 0,
    outsize: PerAxis | None = None,
    cover_all: bool = True,
) -> variable.Variable:
    """Puts each element of images to one place of its window; zeros elsewhere.

    Args:
        indexes (array): The places within the windows, as `max_pooling_2d` returns them:
            integers of the shape of ``x``.

    Raises:
        InvalidType: If ``x`` is no such array, or ``indexes`` has another shape.
        DtypeError: If ``indexes`` are no integers.
        IndexError: If one of them is out of its window.
    """
    op = 'upsampling_2d'
    (kh, kw), (sy, sx), (ph, pw) = to_geometry(op, 2, ksize, stride, pad)
    outh, outw = to_outsize(op, outsize)
    return Upsampling2D.call(
        x,
        kh=kh,
        kw=kw,
        sy=sy,
        sx=sx,
        ph=ph,
        pw=pw,
        cover_all=cover_all,
        return_indices=False,
        indexes=indexes,
        outh=outh,
        outw=outw,
    )
