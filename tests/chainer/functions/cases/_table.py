"""A row of the table: a function, its reference and its class.

A row states only what is special about its function; the loops over kinds of arrays, dtypes,
layouts and derivatives are in `test_functions.py`. Arguments are as in the table of chainerx.
"""

import dataclasses
import importlib
import itertools
import typing as tp
from collections.abc import Callable

import chainer
from chainer.utils.type_check import InvalidType

from cases._table import Arg, Call, b, c, call, f, i, own, seeded

__all__ = ['FLOATS', 'NUMBERS', 'Arg', 'Call', 'Case', 'InvalidType']
__all__ += ['b', 'c', 'call', 'f', 'i', 'own', 'seeded']

FLOATS = ('float16', 'float32', 'float64')
NUMBERS = (*FLOATS, 'int32', 'int64')


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """One row. Everything but the name, the reference and the calls has a default."""

    name: str  # in chainer.functions; anything else where `fn` is given
    ref: Callable | None = None  # NumPy or SciPy, called with float64 or int64; a tuple for several
    inputs: list | None = None  # short for one call
    calls: list | None = None
    fn: Callable | None = None  # the callable, for operators, which do not take raw arrays
    dtypes: tuple = FLOATS
    out: tp.Any = None  # dtype of the outputs, if not that of the arrays; a tuple for several
    cls: tp.Any = (
        None  # 'math.exponential.Exp', under chainer.functions; None: outputs have no creator
    )
    label: str | None = None  # the name of the class, if not given
    attributes: tp.Any = ()  # of the creator: a dict for the first call, or a list of one per call
    params: tuple = ()  # positions of arrays that are options, and never given as Variables
    picks: tuple | None = None  # the outputs of the class that the function returns, if not all
    direct: bool = True  # the class takes the arrays as given, and can be used directly
    elastic: bool = False  # arguments take any shapes that broadcast
    layouts: bool = True  # any memory layout of the arrays
    order: int = 2  # the order of derivatives that exist
    diff: tuple | None = None  # positions among the arrays that have them (None: all floats)
    tol: float = 1.0  # factor on the tolerance of the dtype
    gtol: float = 1.0  # the same factor for gradients
    big: Call | None = None  # the call whose memory is measured; else the first, 16 times as long
    refuses: bool = True  # int32 and bool must raise InvalidType, if they are not among `dtypes`
    bad: list = dataclasses.field(default_factory=list)  # (call, exception, text[, kind of array])

    def __post_init__(self):
        calls = list(self.calls or ())
        if self.inputs is not None:
            calls.insert(0, call(*self.inputs))
        if self.elastic:
            calls += _elastic_calls(calls[0])
        object.__setattr__(self, 'calls', calls)

    @property
    def function(self):
        return self.fn or getattr(chainer.functions, self.name)

    def creator_class(self):
        module, name = self.cls.rsplit('.', 1)
        return getattr(importlib.import_module(f'chainer.functions.{module}'), name)

    def attributes_of(self, n):
        """The attributes of the creator after the call with this number."""
        if isinstance(self.attributes, list):
            return self.attributes[n] if n < len(self.attributes) else {}
        return self.attributes if n == 0 else {}

    def big_call(self):
        if self.big is not None:
            return self.big
        first = self.calls[0]
        return first.map(
            lambda a: (
                dataclasses.replace(a, shape=tuple(n if n == 1 else 16 * n for n in a.shape))
                if a.data is None
                else a
            )
        )

    def __repr__(self):
        return self.name


def _elastic_calls(first):
    def shaped(*shapes):
        it = itertools.cycle(shapes)
        return first.map(lambda a: dataclasses.replace(a, shape=next(it)))

    result = [shaped(()), shaped((0,)), shaped((2, 0, 3)), shaped((2, 1, 3, 2))]
    if len(list(first.arrays())) > 1:
        result += [shaped((2, 3), (3,)), shaped((3, 1), (1, 4)), shaped((), (2, 2))]
        result += [shaped((2, 0), (1, 1))]
    return result
