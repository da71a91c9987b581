"""Lengths of axes as Python sees them while a function is traced."""

from __future__ import annotations

import operator
import typing as tp

if tp.TYPE_CHECKING:
    from collections.abc import Callable

#: ('dim', the value, the axis), or an operator with two expressions or ints.
Expression: tp.TypeAlias = tuple[tp.Any, ...]

_FUNCTIONS: dict[str, Callable[[tp.Any, tp.Any], tp.Any]] = {
    'Add': operator.add,
    'Sub': operator.sub,
    'Mul': operator.mul,
    'FloorDiv': operator.floordiv,
    'Mod': operator.mod,
}


class Length(int):
    """A length, and how it follows from shapes of values: arithmetic with ints keeps track.

    To all that does not know it, it is the int of the run.
    """

    expression: Expression

    def __new__(cls, n: int, expression: Expression) -> Length:
        self = super().__new__(cls, n)
        self.expression = expression
        return self

    def __truediv__(self, other: tp.Any) -> tp.Any:
        return _ratio(self, other)

    def __rtruediv__(self, other: tp.Any) -> tp.Any:
        return _ratio(other, self)

    def __pos__(self) -> Length:
        return self

    def __neg__(self) -> Length:
        return Length(-int(self), ('Sub', 0, self.expression))


class Ratio(float):
    """The quotient of two lengths, or of a length and a number."""

    pair: tuple[tp.Any, tp.Any]

    def __new__(cls, x: float, pair: tuple[tp.Any, tp.Any]) -> Ratio:
        self = super().__new__(cls, x)
        self.pair = pair
        return self


def _ratio(a: tp.Any, b: tp.Any) -> tp.Any:
    if not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
        return NotImplemented
    # Numbers that are of lengths themselves would lose track.
    x = float(a) / float(b)
    return x if isinstance(a, Ratio) or isinstance(b, Ratio) else Ratio(x, (a, b))


def _operand(x: int) -> Expression | int:
    return x.expression if isinstance(x, Length) else int(x)


def _attach(name: str, method: str) -> None:
    function = _FUNCTIONS[name]

    def forward(self: Length, other: tp.Any) -> tp.Any:
        if not isinstance(other, int):
            return NotImplemented
        n = function(int(self), int(other))
        return Length(n, (name, self.expression, _operand(other)))

    def reflected(self: Length, other: tp.Any) -> tp.Any:
        if not isinstance(other, int):
            return NotImplemented
        n = function(int(other), int(self))
        return Length(n, (name, _operand(other), self.expression))

    setattr(Length, f'__{method}__', forward)
    setattr(Length, f'__r{method}__', reflected)


for _name, _method in {
    'Add': 'add',
    'Sub': 'sub',
    'Mul': 'mul',
    'FloorDiv': 'floordiv',
    'Mod': 'mod',
}.items():
    _attach(_name, _method)


def fold(expression: Expression | int, fixed: Callable[[tp.Any, int], int | None]) -> tp.Any:
    """An expression without lengths that are fixed: an int, or what is left of it.

    Args:
        expression (tuple or int): The expression.
        fixed (callable): Of a value and an axis, the length if it is fixed, else None.

    Returns:
        tuple or int: The expression.
    """
    if isinstance(expression, int):
        return int(expression)
    if expression[0] == 'dim':
        n = fixed(expression[1], expression[2])
        return expression if n is None else n
    name, a, b = expression[0], fold(expression[1], fixed), fold(expression[2], fixed)
    if isinstance(a, int) and isinstance(b, int):
        return _FUNCTIONS[name](a, b)
    return name, a, b
