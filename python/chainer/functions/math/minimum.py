"""The smaller of two."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer.functions._elementwise import FloatBinary
from chainer.functions.math.maximum import maximum

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Minimum(FloatBinary):
    """See `minimum`."""

    compose = staticmethod(chainerx.minimum)


@documented_like(maximum)
def minimum(x1: VariableLike, x2: VariableLike) -> variable.Variable:
    """The smaller of two elements, with broadcasting; NaN if one is NaN."""
    return Minimum.call(x1, x2)
