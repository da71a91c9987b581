"""Rows of routines on single elements, as formulas in operators of Python."""

from __future__ import annotations

import inspect
import typing as tp

import numpy as np

from chainerx.onnx._routine import ROWS, RoutineWriter, Typed

if tp.TYPE_CHECKING:
    from collections.abc import Callable


class Expression:
    """A value of a graph, of one dtype."""

    def __init__(self, g: RoutineWriter, value: Typed) -> None:
        self.g = g
        self.value = value

    @property
    def dtype(self) -> np.dtype:
        return self.value.dtype

    def op(self, name: str, *others: tp.Any, **attributes: tp.Any) -> Expression:
        """An operator that gives what it takes."""
        xs = [x.value if isinstance(x, Expression) else x for x in others]
        return Expression(self.g, self.g.run(name, self.value, *xs, dtype=self.dtype, **attributes))

    def test(self, name: str, *others: tp.Any) -> Expression:
        """An operator that gives bool."""
        xs = [x.value if isinstance(x, Expression) else x for x in others]
        return Expression(self.g, self.g.compare(name, self.value, *xs, dtype=self.dtype))

    def number(self, x: float) -> Expression:
        """A constant of the same dtype."""
        return Expression(self.g, self.g.to(x, self.dtype))

    def where(self, x: Expression, y: tp.Any) -> Expression:
        """Chooses by this, which is bool."""
        other = y.value if isinstance(y, Expression) else y
        return Expression(self.g, self.g.choose(self.value, x.value, other, x.dtype))

    def astype(self, dtype: tp.Any) -> Expression:
        return Expression(self.g, self.g.to(self.value, dtype))

    def __add__(self, y: tp.Any) -> Expression:
        return self.op('Add', y)

    def __radd__(self, y: float) -> Expression:
        return self.number(y).op('Add', self)

    def __sub__(self, y: tp.Any) -> Expression:
        return self.op('Sub', y)

    def __rsub__(self, y: float) -> Expression:
        return self.number(y).op('Sub', self)

    def __mul__(self, y: tp.Any) -> Expression:
        return self.op('Mul', y)

    def __rmul__(self, y: float) -> Expression:
        return self.number(y).op('Mul', self)

    def __truediv__(self, y: tp.Any) -> Expression:
        return self.op('Div', y)

    def __rtruediv__(self, y: float) -> Expression:
        return self.number(y).op('Div', self)

    def __neg__(self) -> Expression:
        return 0 - self if self.dtype.kind == 'u' else self.op('Neg')

    def __abs__(self) -> Expression:
        return self.op('Abs')

    def __lt__(self, y: tp.Any) -> Expression:
        return self.test('Less', y)

    def __gt__(self, y: tp.Any) -> Expression:
        return self.test('Greater', y)

    def __le__(self, y: tp.Any) -> Expression:
        return (self < y) | self.equal(y)

    def __ge__(self, y: tp.Any) -> Expression:
        return (self > y) | self.equal(y)

    def equal(self, y: tp.Any) -> Expression:
        return self.test('Equal', y)

    def __and__(self, y: Expression) -> Expression:
        return self.op('And', y)

    def __or__(self, y: Expression) -> Expression:
        return self.op('Or', y)

    def __xor__(self, y: Expression) -> Expression:
        return self.op('Xor', y)

    def __invert__(self) -> Expression:
        return self.op('Not')

    def is_nan(self) -> Expression:
        """Whether elements are nan; of integers, none is."""
        if self.dtype.kind in 'fV':
            self.g.need(9, 'IsNaN')
            return self.test('IsNaN')
        return self.none()

    def none(self) -> Expression:
        """False everywhere."""
        return (self * 0).astype(bool)

    def is_infinite(self, sign: int = 0) -> Expression:
        """Whether elements are infinite; of one sign if it is not 0."""
        if self.dtype.kind not in 'fV':
            return self.none()
        found = abs(self).equal(np.inf) if sign == 0 else self.equal(sign * np.inf)
        return found

    def floor(self) -> Expression:
        return self.op('Floor') if self.dtype.kind in 'fV' else self

    def truncated(self) -> Expression:
        """Rounded towards 0."""
        if self.dtype.kind not in 'fV':
            return self
        self.g.need(9, 'Sign')
        return abs(self).op('Floor') * self.op('Sign')

    def remainder(self, y: Expression) -> Expression:
        """The rest of a division, with the sign of y."""
        self.g.need(10, 'Mod')
        if self.dtype.kind not in 'fV':
            return self.op('Mod', y)
        rest = self.op('Mod', y, fmod=1)
        is_other = (rest < 0) ^ (y < 0)
        return (is_other & ~rest.equal(0)).where(rest + y, rest)


def formula(*names: str, of: str = 'result') -> Callable[[tp.Any], tp.Any]:
    """Registers the formula of a routine.

    Args:
        *names (str): The routines.
        of (str): The dtype that it computes in: that of the 'result', of its first argument
            ('first'), or the one to which all arguments are promoted ('common').

    Returns:
        callable: A decorator of a function of an `Expression` for each argument; None stays.
    """

    def register(function: tp.Any) -> tp.Any:
        parameters = list(inspect.signature(function).parameters.values())

        def write(
            g: RoutineWriter, *args: tp.Any, dtype: tp.Any = None, **kwargs: tp.Any
        ) -> tp.Any:
            bound = inspect.signature(function).bind(*args, **kwargs)
            bound.apply_defaults()
            given = list(bound.arguments.values())
            work = g.dtype
            if of == 'first':
                work = np.dtype(given[0].dtype)
            elif of == 'common':
                work = g.common_dtype(*given)
            xs = [x if x is None else Expression(g, g.to(x, work)) for x in given]
            found = function(*xs)
            if isinstance(found, tuple):
                return tuple([y.value for y in found])
            return found.value

        first = inspect.Parameter('g', inspect.Parameter.POSITIONAL_ONLY)
        dtype = inspect.Parameter('dtype', inspect.Parameter.KEYWORD_ONLY, default=None)
        write.__signature__ = inspect.Signature([first, *parameters, dtype])  # type: ignore[attr-defined]
        for name in names:
            ROWS[name] = write
        return function

    return register
