"""Trigonometric functions."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer._graph.builtin import BuiltinFunction
from chainer.functions._elementwise import FloatUnary
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class Sin(FloatUnary):
    """See `sin`."""

    label = 'sin'
    compose = staticmethod(chainerx.sin)


class Cos(FloatUnary):
    """See `cos`."""

    label = 'cos'
    compose = staticmethod(chainerx.cos)


class Tan(FloatUnary):
    """See `tan`."""

    label = 'tan'
    compose = staticmethod(chainerx.tan)


class Arcsin(FloatUnary):
    """See `arcsin`."""

    label = 'arcsin'
    compose = staticmethod(chainerx.arcsin)


class Arccos(FloatUnary):
    """See `arccos`."""

    label = 'arccos'
    compose = staticmethod(chainerx.arccos)


class Arctan(FloatUnary):
    """See `arctan`."""

    label = 'arctan'
    compose = staticmethod(chainerx.arctan)


class Arctan2(BuiltinFunction):
    """See `arctan2`."""

    is_elementwise = True
    label = 'arctan2'
    compose = staticmethod(chainerx.arctan2)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x1', 'x2'))
        x1, x2 = in_types
        type_check.expect(x1.dtype.kind == 'f', x2.dtype.kind == 'f')
        type_check.expect_broadcast_shapes(x1.shape, x2.shape)


def sin(x: VariableLike) -> variable.Variable:
    """The sine, elementwise.

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Sin.call(x)


@documented_like(sin)
def cos(x: VariableLike) -> variable.Variable:
    """The cosine, elementwise."""
    return Cos.call(x)


@documented_like(sin)
def tan(x: VariableLike) -> variable.Variable:
    """The tangent, elementwise."""
    return Tan.call(x)


def arcsin(x: VariableLike) -> variable.Variable:
    """The inverse sine, elementwise, NaN outside of [-1, 1].

    Args:
        x (Variable or array): Any shape, any float dtype.

    Returns:
        Variable: Shape and dtype of ``x``. Differentiable, any order, inside the interval.

    Raises:
        InvalidType: If ``x`` is not of a float dtype.
    """
    return Arcsin.call(x)


@documented_like(arcsin)
def arccos(x: VariableLike) -> variable.Variable:
    """The inverse cosine, elementwise, NaN outside of [-1, 1]."""
    return Arccos.call(x)


@documented_like(sin)
def arctan(x: VariableLike) -> variable.Variable:
    """The inverse tangent, elementwise."""
    return Arctan.call(x)


def arctan2(x1: VariableLike, x2: VariableLike) -> variable.Variable:
    """The angle of the point ``(x2, x1)``, in (-pi, pi], elementwise, with broadcasting.

    Args:
        x1, x2 (Variable or array): Any shapes that broadcast, any float dtypes.

    Returns:
        Variable: The common shape and dtype. Differentiable in both, any order, except at the
        origin.

    Raises:
        InvalidType: If a dtype is not a float, or shapes do not broadcast.
    """
    return Arctan2.call(x1, x2)
