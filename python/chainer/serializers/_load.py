"""The deserializer of all formats, and loading as a whole or not at all."""

from __future__ import annotations

import collections
import itertools
import typing as tp

import numpy as np

from chainer import serializer, variable
from chainer.serializers import _values

if tp.TYPE_CHECKING:
    from chainer._typing import Serializable

_Names: tp.TypeAlias = 'str | tp.Callable[[str], bool]'
IgnoreNames: tp.TypeAlias = _Names | tp.Collection[_Names]

_MOST_COMPARED = 1000  # keys of a file, each of which takes some 20 us


class Reader(tp.Protocol):
    """The values in a file."""

    name: str

    def __contains__(self, key: str) -> bool: ...

    def keys(self) -> tp.Iterable[str]: ...

    def describe(self, key: str) -> tuple[np.dtype, tuple[int, ...]] | None:
        """Dtype and shape of an array, without reading it; None if None is stored.

        Raises:
            ValueError: If the file is damaged.
        """
        ...

    def read(self, key: str, expected: int) -> np.ndarray:
        """The array.

        Args:
            key: Its key.
            expected: How many bytes may well be right. A reader refuses to make far more than that
                of a file that is small.
        """
        ...


class Deserializer(serializer.Deserializer):
    """Loads from a reader. See `chainer.serializers.NpzDeserializer`."""

    def __init__(
        self,
        reader: Reader,
        path: str = '',
        strict: bool = True,
        ignore_names: IgnoreNames | None = None,
    ) -> None:
        self._reader = reader
        self.path = path
        self.strict = strict
        if ignore_names is None:
            ignore_names = ()
        elif isinstance(ignore_names, str) or callable(ignore_names):
            ignore_names = (ignore_names,)
        is_collection = isinstance(ignore_names, list | tuple | set | frozenset)
        if not is_collection or not all(isinstance(n, str) or callable(n) for n in ignore_names):
            raise ValueError('ignore_names needs to be a callable, string or list of them.')
        self.ignore_names = ignore_names
        self._undo: _Undo | None = None

    def __getitem__(self, key: str) -> tp.Any:
        child = object.__new__(type(self))
        child.__dict__.update(self.__dict__)
        child.path = f'{self.path}{key.strip("/")}/'
        return child

    def _is_ignored(self, key: str) -> bool:
        return any(
            name == key if isinstance(name, str) else name(key) for name in self.ignore_names
        )

    def __call__(self, key: str, value: object) -> tp.Any:
        key = self.path + key.lstrip('/')
        reader = self._reader
        if self._is_ignored(key):
            return value
        if self._undo is not None:
            self._undo.key = key

        def where() -> str:
            return f'{key!r} of {reader.name}'

        try:
            if key not in reader:
                if self.strict:
                    raise KeyError(_describe_missing(key, reader))
                return value
            found = reader.describe(key)
            if found is None:
                return None
            is_array = _values.is_array(value)
            if is_array:
                _values.check_array(value, *found, where)
            # States of optimizers are of the size of a parameter, and may well be all zero.
            expected = 0 if self._undo is None else self._undo.largest
            loaded = reader.read(key, _values.n_bytes(*found) if is_array else expected)
        except (ValueError, OSError) as error:
            if str(error).startswith(where()):
                raise
            raise ValueError(f'{where()} cannot be read: {error}') from error
        if is_array:
            if self._undo is not None:
                self._undo.save(value)
            _values.fill(value, loaded)
            return value
        return loaded if value is None else _values.to_scalar(value, loaded, where)


def _describe_missing(key: str, reader: Reader) -> str:
    """What to say of a key that is not there, with those that are most like it."""
    import difflib

    keys = list(itertools.islice(reader.keys(), _MOST_COMPARED))
    likest = sorted(difflib.get_close_matches(key, keys, n=4, cutoff=0))
    text = f'{key!r} is not in {reader.name}'
    if not likest:
        return text
    more = ', ...' if len(keys) > len(likest) else ''
    return f'{text}, which has {", ".join(map(repr, likest))}{more}'


def load_whole(deserializer: Deserializer, obj: Serializable) -> None:
    """Loads into an object; when that fails the object is as it was."""
    undo = deserializer._undo = _Undo(obj)
    try:
        deserializer.load(obj)
    except BaseException as error:
        undo.restore()
        if undo.key and repr(undo.key) not in str(error):
            error.add_note(f'while loading {undo.key!r} of {deserializer._reader.name}')
        raise
    finally:
        deserializer._undo = None


class _Undo:
    """The state that loading may change: arrays, and attributes of all objects that are serialized.

    Attributes:
        key: The last key that was loaded.
        largest: Bytes of the largest parameter.

    Values of other kinds, inside objects whose class has no method ``serialize``, are not
    remembered. Attributes are not asked for by name: an object may answer with ever new ones.
    """

    def __init__(self, obj: Serializable) -> None:
        self.key = ''
        self.largest = 0
        self._arrays: dict[int, tuple[tp.Any, np.ndarray]] = {}
        self._containers: list[tuple[tp.Any, tp.Any]] = []
        self._uninitialized: list[variable.Parameter] = []
        seen: dict[int, object] = {}
        stack: list[object] = [obj]
        while stack:
            x = stack.pop()
            if id(x) in seen:
                continue
            seen[id(x)] = x  # kept alive: an id may not be used again during the walk
            if isinstance(x, variable.Parameter):
                if x.is_initialized:
                    self.largest = max(self.largest, x.array.nbytes)
                else:
                    self._uninitialized.append(x)
                stack.append(x.update_rule)
            elif isinstance(x, dict | list):
                content = _read(x)
                self._containers.append((x, content))
                stack.extend(dict(content).values() if isinstance(x, dict) else content)
            elif isinstance(x, tuple):
                stack.extend(tuple.__iter__(x))
            elif x is obj or hasattr(type(x), 'serialize'):
                stack.append(getattr(x, '__dict__', None))

    def save(self, array: tp.Any) -> None:
        """Remembers an array that is about to be written."""
        if id(array) not in self._arrays:
            self._arrays[id(array)] = array, np.array(_values.to_numpy(self.key, array))

    def restore(self) -> None:
        # Goes backwards, because the same memory may have been written through two arrays.
        for array, old in reversed(self._arrays.values()):
            _values.fill(array, old)
        for param in self._uninitialized:
            if param.is_initialized:
                param.array = None
        for container, content in self._containers:
            _write(container, content)


# Calls the methods of the base, because those of a subclass may do anything.


def _read(x: tp.Any) -> list[tp.Any]:
    """The items of a dict or a list."""
    if isinstance(x, collections.OrderedDict):
        return list(collections.OrderedDict.items(x))
    return list(dict.items(x)) if isinstance(x, dict) else list.copy(x)


def _write(x: tp.Any, content: list[tp.Any]) -> None:
    if isinstance(x, collections.OrderedDict):
        collections.OrderedDict.clear(x)
        for key, value in content:
            collections.OrderedDict.__setitem__(x, key, value)
    elif isinstance(x, dict):
        dict.clear(x)
        dict.update(x, content)
    else:
        list.__setitem__(x, slice(None), content)
