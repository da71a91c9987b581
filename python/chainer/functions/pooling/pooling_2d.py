"""Base classes of poolings of images."""

from __future__ import annotations

import typing as tp

from chainer._graph.builtin import BuiltinFunction
from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions.pooling._sizes import to_geometry
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, PerAxis


class Pooling2D(BuiltinFunction):
    """Base of the poolings over height and width.

    Attributes:
        kh, kw: Size of the window.
        sy, sx: Stride.
        ph, pw: Padding.
        cover_all: Whether all of the input is in some window.
    """

    check_uses_attributes = False

    def __init__(
        self,
        ksize: PerAxis,
        stride: PerAxis | None = None,
        pad: PerAxis = 0,
        cover_all: bool = True,
        return_indices: bool = False,
    ) -> None:
        size, step, pads = to_geometry(type(self).__name__, 2, ksize, stride, pad)
        self.kh, self.kw = size
        self.sy, self.sx = step
        self.ph, self.pw = pads
        self.cover_all = cover_all
        self.return_indices = return_indices

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim == 4)
