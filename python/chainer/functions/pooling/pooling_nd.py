"""Base classes of poolings of any number of axes."""

from __future__ import annotations

import typing as tp

from chainer._graph.builtin import BuiltinFunction
from chainer.functions.pooling._sizes import to_geometry
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, PerAxis


class _PoolingND(BuiltinFunction):
    """Base of the poolings over all axes behind that of channels.

    Attributes:
        ndim: How many these are.
        ksize: Size of the window, a number for each.
        stride: Its stride, the same.
        pad: Padding, the same.
        cover_all: Whether all of the input is in some window.
    """

    def __init__(
        self,
        ndim: int,
        ksize: PerAxis,
        stride: PerAxis | None = None,
        pad: PerAxis = 0,
        cover_all: bool = True,
        return_indices: bool = False,
    ) -> None:
        op = type(self).__name__
        if ndim < 1:
            raise ValueError(f'{op}: pooling operation requires at least one spatial dimension')
        self.ndim = ndim
        self.ksize, self.stride, self.pad = to_geometry(op, ndim, ksize, stride, pad)
        self.cover_all = cover_all
        self.return_indices = return_indices

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim == 2 + self.ndim)
