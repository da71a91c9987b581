"""Saves the state of triggers and extensions, and loads snapshots that lack some of it."""

from __future__ import annotations

import typing as tp

from chainer.serializer import AbstractSerializer, Deserializer, Serializer


def serialize_optional(serializer: AbstractSerializer, key: str, value: object) -> tp.Any:
    """Saves or loads a value that snapshots of Chainer v7 do not have.

    Args:
        serializer (AbstractSerializer): Where to or from.
        key (str): Name of the value.
        value: To save, or to keep where the snapshot has none.
    """
    try:
        return serializer(key, value)
    except KeyError:
        return value


def serialize_number(serializer: AbstractSerializer, key: str, value: object) -> tp.Any:
    """Saves or loads a number that may be None, such as the best value so far.

    Args:
        serializer (AbstractSerializer): Where to or from.
        key (str): Name of the value.
        value: A number or None.
    """
    if not isinstance(serializer, Deserializer):
        return serializer(key, value)
    # Whatever there was: a serializer reads a number into the type of the old one.
    loaded = serializer(key, None)
    return None if loaded is None else loaded[()].item()


def serialize_new(serializer: AbstractSerializer, key: str, part: tp.Any) -> None:
    """Saves or loads a part that snapshots of Chainer v7 do not have.

    Args:
        serializer (AbstractSerializer): Where to or from.
        key (str): Name of the part.
        part: Has a method ``serialize``; as it was, where the snapshot has nothing of it, and where
            there is no telling whether the serializer saves or loads.
    """
    inner = serializer[key]
    if isinstance(serializer, Deserializer):
        try:
            if inner('saved', None) is None:
                return
        except KeyError:
            return
    elif isinstance(serializer, Serializer):
        inner('saved', True)
    else:
        return
    part.serialize(inner)
