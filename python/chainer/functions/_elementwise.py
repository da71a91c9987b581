"""Base classes of elementwise functions of one or two float arrays."""

from __future__ import annotations

import typing as tp

from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes


class FloatUnary(BuiltinFunction):
    """A function of one array of a float dtype."""

    is_elementwise = True

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')


class FloatBinary(BuiltinFunction):
    """A function of two arrays of one float dtype, whose shapes broadcast."""

    is_elementwise = True
    names: tp.ClassVar[tuple[str, str]] = ('x1', 'x2')

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, self.names)
        x1, x2 = in_types
        type_check.expect(x1.dtype.kind == 'f', x1.dtype == x2.dtype)
        type_check.expect_broadcast_shapes(x1.shape, x2.shape)
