"""Base classes that most activations share."""

from __future__ import annotations

import typing as tp

from chainer._graph.builtin import BuiltinFunction
from chainer.functions import _elementwise
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes


class FloatUnary(_elementwise.FloatUnary):
    """A function of one array of floats."""

    is_elementwise = False  # as in v7
    check_uses_attributes = False


class AlongAxis(BuiltinFunction):
    """A function of one array of floats along an axis, or several together."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        (x,) = in_types
        type_check.expect(x.dtype.kind == 'f')
        for axis in self.axis if isinstance(self.axis, tuple) else (self.axis,):
            type_check.expect(x.ndim > axis if axis >= 0 else x.ndim >= -axis)
