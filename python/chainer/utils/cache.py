"""A property that is computed once."""

from __future__ import annotations

import functools
import typing as tp

from chainer.configuration import config

if tp.TYPE_CHECKING:
    pass


class cached_property:
    """Makes a method a property that is computed at its first use.

    Results with and without a graph are kept apart: one per value of ``config.enable_backprop``.
    The result of a random function is the same at each use, even if configuration has changed
    otherwise.
    """

    def __init__(self, func: tp.Callable[[tp.Any], tp.Any]) -> None:
        functools.update_wrapper(tp.cast(tp.Any, self), func)

    def __get__(self, obj: object, cls: type | None = None) -> tp.Any:
        if obj is None:
            return self
        results = obj.__dict__.setdefault(self.__name__, {})
        key = bool(config.enable_backprop)
        if key not in results:
            results[key] = self.__wrapped__(obj)
        return results[key]

    # Without a setter, an entry of the object's __dict__ would hide the property.
    def __set__(self, obj: object, value: object) -> tp.NoReturn:
        raise AttributeError(f"attribute '{self.__name__}' of {obj} is readonly")

    if tp.TYPE_CHECKING:
        __name__: str
        __wrapped__: tp.Callable[[tp.Any], tp.Any]
