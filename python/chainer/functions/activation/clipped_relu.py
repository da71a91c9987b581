"""The rectifier with an upper bound."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.declaration import routine
from chainer.functions.activation._unary import FloatUnary

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class ClippedReLU(FloatUnary):
    """See `clipped_relu`."""

    argument_names: tp.ClassVar = {'cap': 'z'}
    compose = routine(chainerx.clipped_relu, cap=...)

    def _prepare(self) -> None:
        _check(self.cap)


def _check(z: float) -> None:
    if not isinstance(z, float):
        raise TypeError(f'clipped_relu: z is {z!r}, expected a float')


def clipped_relu(x: VariableLike, z: float = 20.0) -> variable.Variable:
    """``min(max(x, 0), z)``, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.
        z (float): The upper bound.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
        TypeError: If ``z`` is no float.
    """
    _check(z)
    return ClippedReLU.call(x, cap=z)


def relu6(x: VariableLike) -> variable.Variable:
    """``min(max(x, 0), 6)``, elementwise; see `clipped_relu`.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.

    Source: Krizhevsky, Convolutional deep belief networks on CIFAR-10, 2010.
    """
    return ClippedReLU.call(x, cap=6.0)
