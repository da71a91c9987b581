"""Which library arrays are of."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np
from chainerx._core import engine

from chainer import types
from chainer.backends import _cupy

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


def _array_of(x: VariableLike) -> tp.Any:
    return x.array if isinstance(x, engine.Variable) else x


def get_array_module(*args: object) -> types.Xp:
    """The module that the arguments' arrays are of.

    Args:
        args: Arrays, Variables, or anything else, which is ignored.

    Returns:
        ``chainerx`` or ``cupy`` if there is one of their arrays, else ``numpy``.
    """
    xp: tp.Any = np
    for x in args:
        if type(x) is np.ndarray:
            continue
        array = _array_of(x)
        if isinstance(array, chainerx.ndarray):
            return chainerx
        if isinstance(array, _cupy.ndarray):
            xp = _cupy.cupy
    return xp
