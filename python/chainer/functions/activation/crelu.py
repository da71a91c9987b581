"""The concatenated rectifier."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.declaration import routine
from chainer.functions.activation._unary import AlongAxis

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class CReLU(AlongAxis):
    """See `crelu`."""

    compose = routine(chainerx.crelu, axis=1)


def crelu(x: VariableLike, axis: int = 1) -> variable.Variable:
    """``relu(x)`` and ``relu(-x)``, joined along an axis.

    Args:
        x (Variable or array): Any shape, any float dtype.
        axis (int): See above; negative ones count from the end.

    Returns:
        Variable: Twice as long along the axis. Differentiable, any order; the gradient at 0 is 0.

    Raises:
        InvalidType: If ``x`` is not of a float dtype, or has no such axis.
        TypeError: If ``axis`` is no integer.

    Source: Shang et al., ICML 2016.
    """
    if not isinstance(axis, int):
        raise TypeError(f'crelu: axis is {axis!r}, expected an int')
    return CReLU.call(x, axis=axis)
