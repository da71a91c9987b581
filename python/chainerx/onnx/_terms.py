"""Formulas of elements, written with Python's operators."""

from __future__ import annotations

import typing as tp

import numpy as np

if tp.TYPE_CHECKING:
    from chainerx.onnx._writer import Writer

Operand: tp.TypeAlias = 'Term | float'


class Term:
    """A value of the graph in a formula; numbers beside it become constants of its dtype.

    Args:
        g (Writer): Where the operators go.
        name (str): The name of the value.
        dtype (dtype): Its dtype.
    """

    def __init__(self, g: Writer, name: str, dtype: tp.Any) -> None:
        self.g = g
        self.name = name
        self.dtype = np.dtype(dtype)

    def name_of(self, other: Operand) -> str:
        """The name of a value, or of the constant that a number becomes."""
        if isinstance(other, Term):
            return other.name
        return self.g.const(other, 'value', self.dtype)

    def op(self, operator: str, *others: Operand, dtype: tp.Any = None) -> Term:
        """An operator of this value and others."""
        names = [self.name, *map(self.name_of, others)]
        return Term(self.g, self.g.op(operator, names), dtype or self.dtype)

    def of(self, value: float) -> Term:
        """A constant of the same dtype."""
        return Term(self.g, self.name_of(value), self.dtype)

    def cast(self, dtype: tp.Any) -> Term:
        """Converts the dtype."""
        if np.dtype(dtype) == self.dtype:
            return self
        return Term(self.g, self.g.cast(self.name, dtype), dtype)

    def __add__(self, other: Operand) -> Term:
        return self.op('Add', other)

    def __sub__(self, other: Operand) -> Term:
        return self.op('Sub', other)

    def __mul__(self, other: Operand) -> Term:
        return self.op('Mul', other)

    def __truediv__(self, other: Operand) -> Term:
        return self.op('Div', other)

    def __pow__(self, other: Operand) -> Term:
        return self.op('Pow', other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: float) -> Term:
        return self.of(other) - self

    def __rtruediv__(self, other: float) -> Term:
        return self.of(other) / self

    def __neg__(self) -> Term:
        return self.op('Neg')

    def __lt__(self, other: Operand) -> Term:
        return self.op('Less', other, dtype=bool)

    def __gt__(self, other: Operand) -> Term:
        return self.op('Greater', other, dtype=bool)

    def __and__(self, other: Term) -> Term:
        return self.op('And', other)

    def __or__(self, other: Term) -> Term:
        return self.op('Or', other)

    def __invert__(self) -> Term:
        return self.op('Not')

    def abs(self) -> Term:
        """The absolute value."""
        return self.op('Abs')

    def exp(self) -> Term:
        """The exponential function."""
        return self.op('Exp')

    def log(self) -> Term:
        """The natural logarithm."""
        return self.op('Log')

    def sqrt(self) -> Term:
        """The square root."""
        return self.op('Sqrt')

    def sin(self) -> Term:
        """The sine."""
        return self.op('Sin')

    def floor(self) -> Term:
        """The largest integer that is not larger."""
        return self.op('Floor')

    def where(self, x: Operand, y: Operand) -> Term:
        """``x`` where this condition holds, ``y`` elsewhere; one of them is a Term."""
        dtype = next(v for v in (x, y) if isinstance(v, Term)).dtype
        names = [v.name if isinstance(v, Term) else self.g.const(v, 'value', dtype) for v in (x, y)]
        return Term(self.g, self.g.where(self.name, *names), dtype)

    def poly(self, coefficients: tp.Iterable[float]) -> Term:
        """A polynomial, lowest coefficient first, by Horner's rule."""
        *rest, y = coefficients
        total: Operand = y
        for c in reversed(rest):
            total = self * total + c
        return tp.cast(Term, total)

    def poly_in(self, part: Term, rows: tp.Sequence[tp.Sequence[float]]) -> Term:
        """A polynomial whose coefficients are those of the row that ``part`` says."""
        total: Term | None = None
        for column in reversed(list(zip(*rows, strict=True))):
            table = self.g.const(column, 'table', self.dtype)
            c = Term(self.g, self.g.op('Gather', [table, part.name]), self.dtype)
            total = c if total is None else self * total + c
        return tp.cast(Term, total)
