"""Where a captured step may leave arrays for the next call, and what it has changed there."""

from __future__ import annotations

import collections
import threading
import types
import typing as tp
import weakref

import numpy as np

from chainerx._core import engine, ndarray
from chainerx._dependencies import LEAVES, Found, Owner

# An owner and a key as in `_dependencies.Dependency`, what the place is called in messages, and, if
# anything was there, what.
Change: tp.TypeAlias = tuple[object, object, str] | tuple[object, object, str, object]

# Where something is: the owner, by id, and the key.
Key: tp.TypeAlias = tuple[int, object]


class Lost(tp.NamedTuple):
    """What a step has changed without arrays.

    Attributes:
        what (str): For messages.
        owner (object): Where: as of `Change`.
        key (object): As well.
        name (str): As well.
        value (str): What is there now; None if it is not a value that is another one now.
        is_sure (bool): Whether two recordings have changed it to that.
    """

    what: str
    owner: object
    key: object
    name: str
    value: str | None
    is_sure: bool = False


_ABSENT: tp.Final = object()
_SIZED: tp.Final = (list, dict, set, collections.deque)


class Snapshot:
    """What the places that a step may know hold before it runs.

    Args:
        found (Found): What was found of the program.
    """

    def __init__(self, found: Found) -> None:
        # By the methods of the bases, as those of a subclass may do anything.
        self._owners = [(owner, name, _items(owner)) for owner, name in found.owners]
        whole = {id(owner) for owner, _ in found.owners}
        self._others = [
            d for d in found.dependencies if id(d[0]) not in whole and _is_place(d[0], d[1])
        ]
        containers: list[object] = [owner for owner, name in found.owners if name.startswith('a ')]
        containers += [d[0] for d in found.dependencies if d[1] is ...]
        self._sizes = [(each, n) for each in containers if (n := _size_of(each)) is not None]

    def changes(self) -> list[Change]:
        """Finds the places that hold another object now.

        Returns:
            list of tuple: These places, always in the same order.
        """
        changes: list[Change] = []
        for owner, name, before in self._owners:
            now = _items(owner)
            if isinstance(owner, list) and len(now) != len(before):
                continue  # its items may have moved
            for key in [*now, *(key for key in before if key not in now)]:
                old = before.get(key, _ABSENT)
                if now.get(key, _ABSENT) is not old:
                    changes.append(_change(owner, key, _name_of(owner, key, name), old))
        for place, key, *value in self._others:
            old = value[0] if value else _ABSENT
            if _read(place, key) is not old:
                changes.append(_change(place, key, _name_of(place, key, ''), old))
        return changes

    def knows(self, owner: object) -> bool:
        """Whether this is the owner of a place."""
        return any(owner is each for each, *_ in (*self._owners, *self._others))

    def lost(self) -> dict[Key, Lost]:
        """Finds what the step has changed without arrays, so that a replay would not do it.

        Returns:
            dict: By place, what is another number or text now, or has another size.
        """
        lost: dict[Key, Lost] = {}
        for owner, key, name, *value in self.changes():
            now = _read(owner, key)
            if not value or not (_is_value(value[0]) and _is_value(now)):
                continue
            if not _is_same(value[0], now):
                what = f'{name} was {value[0]!r:.80} before the step, and is {now!r:.80} after it'
                lost[id(owner), key] = Lost(what, owner, key, name, repr(now))
        for owner, before in self._sizes:
            n = _size_of(owner)
            if n != before:
                what = f'a {type(owner).__name__} had {before} items before the step, and has {n}'
                lost[id(owner), ...] = Lost(what, owner, ..., '', None)
        return lost


def still_holds(lost: Lost) -> bool:
    """Whether the place of a value holds an equal one now."""
    now = _read(lost.owner, lost.key)
    return _is_value(now) and repr(now) == lost.value


def form_of(value: object) -> str:
    """What tells arguments with other values or shapes apart, as far as that is known."""
    cls = type(value)
    if issubclass(cls, (tuple, list)):
        return f'({", ".join(map(form_of, tp.cast(list[object], value)))})'
    if issubclass(cls, dict):
        items = tp.cast(dict[object, object], value).items()
        return f'{{{", ".join(f"{key!r}: {form_of(item)}" for key, item in items)}}}'
    if cls in LEAVES or issubclass(cls, np.generic):
        return repr(value)
    if issubclass(cls, (engine.Variable, ndarray, np.ndarray)):
        return f'{getattr(value, "dtype", None)} {getattr(value, "shape", None)}'
    return cls.__name__


def _size_of(owner: object) -> int | None:
    # By the methods of the bases, as those of a subclass may do anything.
    base: tp.Any = next((base for base in _SIZED if issubclass(type(owner), base)), None)
    return None if base is None else base.__len__(owner)


def _is_value(value: object) -> bool:
    cls = type(value)
    if cls is tuple:
        return all(map(_is_value, tp.cast(tuple[object, ...], value)))
    return cls in LEAVES or issubclass(cls, np.generic)


def _is_same(a: object, b: object) -> bool:
    # By what they show, which tells 0.0 from -0.0, and not one NaN from another.
    return a is b or (type(a) is type(b) and repr(a) == repr(b))


def _items(owner: Owner) -> dict[tp.Any, object]:
    if isinstance(owner, dict):
        items = list(dict.items(owner))  # at once, as another thread may add some
        return {key: value for key, value in items if type(key) in (str, int)}
    return dict(enumerate(list.__iter__(owner)))


def _is_place(owner: object, key: object) -> bool:
    if type(owner) in (weakref.ref, threading.local):  # what properties say, or threads have
        return False
    return key is not ... and (key is not None or type(owner) is types.CellType)


def _read(owner: tp.Any, key: tp.Any) -> object:
    cls = type(owner)  # not isinstance, which asks the owner
    if cls is types.CellType:
        try:
            return owner.cell_contents
        except ValueError:
            return _ABSENT
    if issubclass(cls, dict):
        return dict.get(owner, key, _ABSENT)
    if issubclass(cls, list):
        try:
            return list.__getitem__(owner, key)
        except IndexError:
            return _ABSENT
    if issubclass(cls, type):
        return vars(owner).get(key, _ABSENT)
    try:
        return object.__getattribute__(owner, key)
    except AttributeError:
        return _ABSENT


def _name_of(owner: tp.Any, key: object, name: str) -> str:
    cls = type(owner)
    if cls is types.CellType:
        return 'a variable of an outer function'
    if name.startswith('a '):
        return f'item {key!r} of {name}'
    if not name:
        if issubclass(cls, dict):
            name = str(dict.get(owner, '__name__', 'a module'))
        else:
            name = (owner if issubclass(cls, type) else cls).__name__
    return f'{name}.{key}'


def _change(owner: object, key: object, name: str, old: object) -> Change:
    return (owner, key, name) if old is _ABSENT else (owner, key, name, old)
