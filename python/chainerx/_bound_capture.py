"""Captured methods, as an instance has them."""

from __future__ import annotations

import inspect
import typing as tp

from chainerx._core import engine


class BoundCapture:
    """A captured method of an instance, which it keeps alive.

    Attributes:
        __self__: The instance.
        __wrapped__ (callable): The function itself, which is never replayed.
    """

    def __init__(self, method: engine.CapturedFunction, instance: object) -> None:
        self.__self__ = instance
        self.__doc__ = method.__doc__
        self._method: tp.Any = method

    def __call__(self, *args: tp.Any, **kwargs: tp.Any) -> tp.Any:
        return self._method(*args, **kwargs)

    def __getattr__(self, name: str) -> tp.Any:
        return getattr(self._method, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundCapture) and other._method is self._method

    def __hash__(self) -> int:
        return hash(self._method)

    def __repr__(self) -> str:
        return f'{repr(self._method)[:-1]} of {self.__self__!r}>'

    def __reduce__(self) -> tuple[tp.Any, ...]:
        return getattr, (self.__self__, self._method.__wrapped__.__name__)

    @property
    def __signature__(self) -> inspect.Signature:
        signature = inspect.signature(self._method.__wrapped__)
        return signature.replace(parameters=[*signature.parameters.values()][1:])
