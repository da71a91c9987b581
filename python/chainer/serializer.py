"""The interface between objects and the formats that they are saved in."""

from __future__ import annotations

import typing as tp

if tp.TYPE_CHECKING:
    from chainer._typing import Serializable


class AbstractSerializer:
    """Base of serializers, which save or load the values of an object one by one.

    An object has a method ``serialize(serializer)`` that hands over its values, with names, and
    takes back what the serializer returns; so one method serves saving and loading.
    """

    def __getitem__(self, key: str) -> AbstractSerializer:
        """A serializer for the part of an object called ``key``."""
        raise NotImplementedError

    def __call__(self, key: str, value: tp.Any) -> tp.Any:
        """Saves or loads a value.

        Args:
            key: Name of the value.
            value: An array, a scalar or None. Loading writes into an array where it can.

        Returns:
            When saving, ``value``; when loading, what was saved.
        """
        raise NotImplementedError


class Serializer(AbstractSerializer):
    """Base of what saves."""

    def save(self, obj: Serializable) -> None:
        """Saves an object by its method ``serialize``.

        Args:
            obj: Has a method ``serialize``.
        """
        obj.serialize(self)


class Deserializer(AbstractSerializer):
    """Base of what loads."""

    def load(self, obj: Serializable) -> None:
        """Loads into an object by its method ``serialize``.

        Args:
            obj: Has a method ``serialize``.
        """
        obj.serialize(self)
