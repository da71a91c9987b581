"""Hyperparameters: values that an optimizer shares with its update rules."""

from __future__ import annotations

import collections.abc
import typing as tp

from chainerx._core import engine


class Interval(tp.NamedTuple):
    """The limits of a hyperparameter: a real number between two ends."""

    low: float
    high: float
    closed_low: bool
    closed_high: bool

    def __str__(self) -> str:
        if self == FINITE:
            return 'finite'
        if self == BOUND:
            return 'a number'
        return f'in {"(["[self.closed_low]}{self.low}, {self.high}{")]"[self.closed_high]}'

    def check(self, owner: str, name: str, value: tp.Any) -> None:
        """Raises an error that names the hyperparameter if the value is outside.

        Raises:
            TypeError: If it is no real number.
            ValueError: If it is outside, or NaN.
        """
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = None
        except OverflowError:  # of an integer that is too large
            number = _INF
        if number is None or isinstance(value, str):
            text = f'{owner}: {name} must be a real number, not {value!r}'
            if isinstance(value, collections.abc.Iterator):  # PyTorch's way: SGD(model.params())
                text += '; setup(link) gives an optimizer its parameters'
            raise TypeError(text)
        above = number >= self.low if self.closed_low else number > self.low
        below = number <= self.high if self.closed_high else number < self.high
        if not (above and below):
            raise ValueError(f'{owner}: {name} must be {self}, not {value!r}')


_INF: tp.Final = float('inf')
FINITE: tp.Final = Interval(-_INF, _INF, False, False)
NON_NEGATIVE: tp.Final = Interval(0, _INF, True, False)
# A bound that may be left open: infinity bounds nothing.
BOUND: tp.Final = Interval(-_INF, _INF, True, True)
NON_NEGATIVE_BOUND: tp.Final = Interval(0, _INF, True, True)
POSITIVE: tp.Final = Interval(0, _INF, False, False)
# The weight of an average is below 1: at 1 some rules would never learn, others divide by zero.
FRACTION: tp.Final = Interval(0, 1, True, True)
BELOW_ONE: tp.Final = Interval(0, 1, True, False)


class Hyperparameter:
    """A set of named values; values that are not set here are looked up in the parent.

    Args:
        parent (Hyperparameter): Where to look, e.g. the optimizer's set from an update rule's.
    """

    _parent: Hyperparameter | None

    def __init__(self, parent: Hyperparameter | None = None) -> None:
        self._parent = parent

    def __getattr__(self, name: str) -> tp.Any:
        # Copying and unpickling ask before there is a parent.
        parent = self.__dict__.get('_parent')
        if parent is None or name.startswith('__'):
            raise AttributeError(f'there is no hyperparameter {name!r}')
        return getattr(parent, name)

    def __setattr__(self, name: str, value: tp.Any) -> None:
        if not name.startswith('_'):
            limits = getattr(self, '_limits', None)
            if limits is not None and name in limits[1]:
                limits[1][name].check(limits[0], name, value)
        self.__dict__[name] = value

    def __repr__(self) -> str:
        pairs = ', '.join(f'{name}={value}' for name, value in sorted(self.get_dict().items()))
        return f'{type(self).__name__}({pairs})'

    @property
    def parent(self) -> Hyperparameter | None:
        """Where values come from that are not set here."""
        return self._parent

    def get_dict(self) -> dict[str, tp.Any]:
        """All values, the parent's too."""
        values = {} if self._parent is None else self._parent.get_dict()
        own = {k: v for k, v in self.__dict__.items() if k not in ('_parent', '_limits')}
        return values | own


class HyperparameterProxy:
    """An attribute of an optimizer that stands for one of its hyperparameters.

    Args:
        attr_name (str): Name of the hyperparameter.
    """

    def __init__(self, attr_name: str) -> None:
        self._attr_name = attr_name
        self.__doc__ = f'Alias to ``self.hyperparam.{attr_name}``'

    def __get__(self, obj: tp.Any, type: type | None = None) -> tp.Any:
        return self if obj is None else getattr(obj.hyperparam, self._attr_name)

    def __set__(self, obj: tp.Any, value: tp.Any) -> None:
        setattr(obj.hyperparam, self._attr_name, value)


engine.set_callbacks(hyperparameter_class=Hyperparameter)
