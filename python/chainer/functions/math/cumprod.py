"""Products up to each element."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer._graph.declaration import routine
from chainer.functions.math._reduction import Scan, to_axis
from chainer.functions.math.cumsum import cumsum

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class Cumprod(Scan):
    """See `cumprod`."""

    compose = routine(chainerx.cumprod, axis=...)


@documented_like(cumsum)
def cumprod(x: VariableLike, axis: int | None = None) -> variable.Variable:
    """The products of the elements up to and with each, along an axis."""
    return Cumprod.call(x, axis=to_axis('cumprod', axis))
