"""Base classes of functions of square matrices."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer._graph.builtin import BuiltinFunction
from chainer.functions._precision import narrowed, widened
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes


def in_precision(
    function: tp.Callable[[chainerx.ndarray], chainerx.ndarray], a: chainerx.ndarray
) -> chainerx.ndarray:
    """The function, which knows float32 and float64, of all floats."""
    return narrowed(function(widened(a)), a)


class Matrices(BuiltinFunction):
    """A function of one matrix, or of a batch of them."""

    ndim: tp.ClassVar[int] = 2

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('a',))
        a = in_types[0]
        type_check.expect(a.dtype.kind == 'f', a.ndim == self.ndim)
        type_check.expect(a.shape[-1] == a.shape[-2])
