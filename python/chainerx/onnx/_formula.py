"""Rows of routines on single elements, as formulas in operators of Python."""

from __future__ import annotations

import inspect
import typing as tp

import numpy as np

from chainerx.onnx._routine import ROWS, RoutineWriter, Typed
from chainerx.onnx._terms import Term

if tp.TYPE_CHECKING:
    from collections.abc import Callable


#: What stands beside a term.
Number: tp.TypeAlias = tp.Any


def _value(x: Number) -> tp.Any:
    return x.value if isinstance(x, Expression) else x


class Expression(Term):
    """A term whose operators compute in a dtype that they, and runtimes, have."""

    g: RoutineWriter

    def __init__(self, g: RoutineWriter, value: Typed) -> None:
        super().__init__(g, value, value.dtype)

    @property
    def value(self) -> Typed:
        """The name, with the dtype."""
        return Typed(self.name, self.dtype)

    def op(self, operator: str, *others: Number, dtype: tp.Any = None, **kw: tp.Any) -> Expression:
        """An operator of this value and others, which gives their dtype, or bool."""
        xs = [_value(x) for x in others]
        if dtype is not None:
            found = self.g.compare(operator, self.value, *xs, dtype=self.dtype)
        else:
            found = self.g.run(operator, self.value, *xs, dtype=self.dtype, **kw)
        return Expression(self.g, found)

    def of(self, value: tp.Any) -> Expression:
        return Expression(self.g, self.g.to(value, self.dtype))

    def cast(self, dtype: tp.Any) -> Expression:
        return Expression(self.g, self.g.to(self.value, dtype))

    def where(self, x: Number, y: Number) -> Expression:
        dtype = next(v for v in (x, y) if isinstance(v, Term)).dtype
        return Expression(self.g, self.g.choose(self.value, _value(x), _value(y), dtype))

    if tp.TYPE_CHECKING:  # operators of a Term are written with those above

        def __add__(self, other: Number) -> Expression: ...
        def __sub__(self, other: Number) -> Expression: ...
        def __mul__(self, other: Number) -> Expression: ...
        def __truediv__(self, other: Number) -> Expression: ...
        def __radd__(self, other: Number) -> Expression: ...
        def __rsub__(self, other: Number) -> Expression: ...
        def __rmul__(self, other: Number) -> Expression: ...
        def __rtruediv__(self, other: Number) -> Expression: ...
        def __lt__(self, other: Number) -> Expression: ...
        def __gt__(self, other: Number) -> Expression: ...
        def __and__(self, other: Term) -> Expression: ...
        def __or__(self, other: Term) -> Expression: ...
        def __invert__(self) -> Expression: ...
        def exp(self) -> Expression: ...
        def log(self) -> Expression: ...
        def sqrt(self) -> Expression: ...
        def abs(self) -> Expression: ...

    def __neg__(self) -> Expression:
        return 0 - self if self.dtype.kind == 'u' else self.op('Neg')

    def __abs__(self) -> Expression:
        return self.abs()

    def __le__(self, y: Number) -> Expression:
        return (self < y) | self.equal(y)

    def __ge__(self, y: Number) -> Expression:
        return (self > y) | self.equal(y)

    def __xor__(self, y: Term) -> Expression:
        return self.op('Xor', y)

    def equal(self, y: Number) -> Expression:
        """Whether elements are equal."""
        return self.op('Equal', y, dtype=bool)

    def is_nan(self) -> Expression:
        """Whether elements are nan; of integers, none is."""
        if self.dtype.kind in 'fV':
            self.g.need(9, 'IsNaN')
            return self.op('IsNaN', dtype=bool)
        return self.none()

    def none(self) -> Expression:
        """False everywhere."""
        return (self * 0).cast(bool)

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
