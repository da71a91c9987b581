"""Rounding towards 0."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.math.ceil import ceil

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class _Fix(BuiltinFunction):
    has_graph = False
    compose = staticmethod(chainerx.fix)


@documented_like(ceil)
def fix(x: VariableLike | np.generic) -> variable.Variable:
    """The integer part, elementwise."""
    if isinstance(x, np.generic):
        x = np.asarray(x)
    return _Fix.call(x)
