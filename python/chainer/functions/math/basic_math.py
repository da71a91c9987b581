"""Arithmetic, and the operators of variables."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np
from chainerx._core import engine

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike, VariableOrNumber


def _convert_value_to_string(value: VariableOrNumber) -> str:
    """A constant as labels print it: negative ones in parentheses, arrays by name."""
    if isinstance(value, variable.Variable):
        value = value.array
    if np.isscalar(value):
        return f'({value})' if value < 0 else f'{value}'  # type: ignore[operator, str-bytes-safe]
    if engine.kind(value) is not None:
        return 'constant array'
    raise TypeError('Value must be a scalar, an array or a Variable.\nActual: ' + str(type(value)))


class _Unary(BuiltinFunction):
    is_elementwise = True

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check.expect(in_types.size() == 1)


class _Binary(BuiltinFunction):
    is_elementwise = True
    promotes = True

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('lhs', 'rhs'))
        lhs, rhs = in_types
        type_check.expect(lhs.dtype == rhs.dtype)
        type_check.expect_broadcast_shapes(lhs.shape, rhs.shape)


class _FloatBinary(_Binary):
    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('lhs', 'rhs'))
        lhs, rhs = in_types
        type_check.expect(lhs.dtype.kind == 'f', lhs.dtype == rhs.dtype)
        type_check.expect_broadcast_shapes(lhs.shape, rhs.shape)


class _Constant(_Unary):
    """One operand is a number, `value`; it does not change a floating-point dtype."""

    check_uses_attributes = False
    _format: str

    @property
    def label(self) -> str:
        return self._format.format(_convert_value_to_string(self.value))


class _FloatConstant(_Constant):
    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')


class Neg(_Unary):
    """``-x``."""

    label = '__neg__'
    compose = staticmethod(chainerx.negative)


class Absolute(_Unary):
    """``abs(x)``."""

    label = '|_|'
    compose = staticmethod(chainerx.absolute)


class Add(_Binary):
    """``x + y``."""

    label = '_ + _'
    compose = staticmethod(chainerx.add)


class AddConstant(_Constant):
    """``x + value``."""

    _format = '_ + {}'
    compose = routine(chainerx.add, value=...)


class MultiAdd(BuiltinFunction):
    """The sum of any number of arrays."""

    is_elementwise = True

    def check_type_forward(self, in_types: InTypes) -> None:
        for x in in_types:
            type_check.expect(x.dtype == in_types[0].dtype)
        type_check.expect_broadcast_shapes(*[x.shape for x in in_types])

    @staticmethod
    def compose(x: chainerx.ndarray, *others: chainerx.ndarray) -> chainerx.ndarray:
        if not others:
            return x[...]
        for other in others:
            x = x + other
        return x


class Sub(_Binary):
    """``x - y``."""

    label = '_ - _'
    compose = staticmethod(chainerx.subtract)


class SubFromConstant(_Constant):
    """``value - x``."""

    _format = '{} - _'

    @staticmethod
    def compose(x: chainerx.ndarray, *, value: tp.Any) -> chainerx.ndarray:
        return value - x


class Mul(_Binary):
    """``x * y``."""

    label = '_ * _'
    compose = staticmethod(chainerx.multiply)


class MulConstant(_Constant):
    """``x * value``."""

    _format = '_ * {}'
    compose = routine(chainerx.multiply, value=...)


class Div(_FloatBinary):
    """``x / y``."""

    label = '_ / _'
    compose = staticmethod(chainerx.divide)


class DivFromConstant(_FloatConstant):
    """``value / x``."""

    _format = '{} / _'

    @staticmethod
    def compose(x: chainerx.ndarray, *, value: tp.Any) -> chainerx.ndarray:
        return value / x


class PowVarVar(_FloatBinary):
    """``x ** y``."""

    label = '_ ** _'
    compose = staticmethod(chainerx.power)


class PowVarConst(_FloatConstant):
    """``x ** value``."""

    _format = '_ ** {}'
    compose = routine(chainerx.power, value=...)


class PowConstVar(_FloatConstant):
    """``value ** x``."""

    _format = '{} ** _'

    @staticmethod
    def compose(x: chainerx.ndarray, *, value: tp.Any) -> chainerx.ndarray:
        return value**x


class _FloorDivide(_Binary):
    has_graph = False
    compose = staticmethod(chainerx.floor_divide)


class _FloorDivideConstant(_Constant):
    has_graph = False
    compose = routine(chainerx.floor_divide, value=...)


class _FloorDivideFromConstant(_Constant):
    has_graph = False

    @staticmethod
    def compose(x: chainerx.ndarray, *, value: tp.Any) -> chainerx.ndarray:
        return value // x


def _sub_constant(x: variable.Variable, value: tp.Any) -> variable.Variable:
    try:
        return AddConstant.call(x, value=-value)
    except OverflowError:
        if x.dtype.kind != 'u':
            raise
        # As in v7, the negative of a number in unsigned integers is reduced modulo their range.
        return AddConstant.call(x, value=-value % 2 ** (8 * x.dtype.itemsize))


def _div_constant(x: variable.Variable, value: tp.Any) -> variable.Variable:
    # As v7: one division for all elements, but not in the few digits of a small NumPy number.
    one = np.float64(1) if isinstance(value, np.generic) else 1.0
    return MulConstant.call(x, value=one / value)


engine.set_operator('add', Add.call, AddConstant.call, AddConstant.call)
engine.set_operator('subtract', Sub.call, _sub_constant, SubFromConstant.call)
engine.set_operator('multiply', Mul.call, MulConstant.call, MulConstant.call)
engine.set_operator('divide', Div.call, _div_constant, DivFromConstant.call)
engine.set_operator(
    'floor_divide', _FloorDivide.call, _FloorDivideConstant.call, _FloorDivideFromConstant.call
)
engine.set_operator('power', PowVarVar.call, PowVarConst.call, PowConstVar.call)
engine.set_operator('negative', Neg.call)
engine.set_operator('absolute', Absolute.call)


def add(*xs: VariableOrNumber) -> variable.Variable:
    """The sum of variables, elementwise, with broadcasting.

    Args:
        *xs (Variable or array): One or more, of shapes that broadcast and one dtype; the second of
            two may be a number.

    Returns:
        Variable: The common shape, their dtype. Differentiable in all of them, any order.

    Raises:
        InvalidType: If dtypes differ or shapes do not broadcast.
        TypeError: If there is no argument, or one is no array.
    """
    if len(xs) == 2:
        left: tp.Any
        right: tp.Any
        left, right = xs
        if isinstance(left, variable.Variable) or isinstance(right, variable.Variable):
            return left + right
        return variable.as_variable(left) + right
    if not xs:
        raise TypeError('add: expected at least one argument')
    return MultiAdd.call(*xs)


def absolute(self: VariableLike) -> variable.Variable:
    """The absolute value, elementwise.

    Args:
        self (Variable or array): Any shape, any real dtype.

    Returns:
        Variable: Its shape and dtype. Differentiable, any order; the gradient at 0 is 0.

    Raises:
        DtypeError: If the dtype is bool or complex.
    """
    return Absolute.call(self)


# The operators under the names that v7 had for them.
def sub(self: VariableLike, rhs: VariableOrNumber) -> variable.Variable:
    """``self - rhs``, elementwise."""
    return variable.as_variable(self) - rhs


def mul(self: VariableLike, rhs: VariableOrNumber) -> variable.Variable:
    """``self * rhs``, elementwise."""
    return variable.as_variable(self) * rhs


def div(self: VariableLike, rhs: VariableOrNumber) -> variable.Variable:
    """``self / rhs``, elementwise."""
    return variable.as_variable(self) / rhs


def neg(self: VariableLike) -> variable.Variable:
    """``-self``, elementwise."""
    return Neg.call(self)


def pow(self: VariableLike, rhs: VariableOrNumber) -> variable.Variable:
    """``self ** rhs``, elementwise."""
    return variable.as_variable(self) ** rhs
