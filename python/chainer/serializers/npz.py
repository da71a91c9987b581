"""Snapshots in NumPy's npz format, with the keys of Chainer v7."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer import serializer
from chainer.serializers import _file, _load, _values

if tp.TYPE_CHECKING:
    from chainer._typing import Serializable
    from chainer.serializers._load import IgnoreNames


class DictionarySerializer(serializer.Serializer):
    """Collects values in a flat dictionary; the keys are paths like ``predictor/l1/W``.

    Args:
        target: The dictionary to fill; by default a new one.
        path: The prefix of keys.
    """

    def __init__(self, target: dict[str, tp.Any] | None = None, path: str = '') -> None:
        self.target: dict[str, tp.Any] = {} if target is None else target
        self.path = path

    def __getitem__(self, key: str) -> DictionarySerializer:
        return DictionarySerializer(self.target, f'{self.path}{key.strip("/")}/')

    def __call__(self, key: str, value: object) -> tp.Any:
        """Puts a value into the dictionary, as a NumPy array.

        Raises:
            TypeError: If it can't be saved without pickle.
        """
        key = self.path + key.lstrip('/')
        # None stays an array of objects, as users' code that reads the dictionary expects.
        none = np.array(None, dtype=object)
        self.target[key] = none if value is None else _values.to_numpy(key, value)
        return value


def serialize(obj: Serializable) -> dict[str, tp.Any]:
    """The values of an object in a flat dictionary; see `DictionarySerializer`."""
    saver = DictionarySerializer()
    saver.save(obj)
    return saver.target


def save_npz(file: _file.PathOrFile, obj: Serializable, compression: bool = True) -> None:
    """Saves an object to a file in the npz format, which `numpy.load` reads too.

    A path is replaced in one step, when all is written. Chainer v7 loads the file.

    Args:
        file: Path, taken as it is, or binary file.
        obj: A link, an optimizer, ..., or a dictionary of arrays.
        compression: Whether to compress.

    Raises:
        TypeError: If a value can't be saved without pickle. The old file is kept.
    """
    values = obj if isinstance(obj, dict) else serialize(obj)
    arrays = {key: None if is_none(x) else _values.to_numpy(key, x) for key, x in values.items()}
    from chainer.serializers import _archive  # not above: the import of chainer should be quick

    with _file.writing(file) as stream:
        _archive.write(stream, arrays, compression)


def is_none(value: object) -> bool:
    """Whether a value is None, or the array of it that a `DictionarySerializer` keeps."""
    if isinstance(value, np.ndarray) and value.dtype == object and value.shape == ():
        value = value.item()
    return value is None


class _MappingReader:
    """The arrays of a dictionary, or of anything like one."""

    name = 'the dictionary'

    def __init__(self, arrays: tp.Mapping[str, tp.Any]) -> None:
        self._arrays = arrays

    def __contains__(self, key: str) -> bool:
        return key in self._arrays

    def keys(self) -> tp.Iterable[str]:
        return self._arrays

    def describe(self, key: str) -> tuple[np.dtype, tuple[int, ...]] | None:
        value = self._arrays[key]
        if is_none(value):
            return None
        array = _values.to_numpy(key, value)
        return array.dtype, array.shape

    def read(self, key: str, expected: int) -> np.ndarray:
        return np.array(_values.to_numpy(key, self._arrays[key]))


class NpzDeserializer(_load.Deserializer):
    """Loads from the result of `numpy.load` on an npz file, or from a dictionary.

    Args:
        npz: The result of `numpy.load`, of whatever ``allow_pickle``; or a mapping to arrays.
        path: The prefix of keys, with its last slash: ``'predictor/'``.
        strict: Whether a missing key is an error; else the old value stays.
        ignore_names: Keys that are not loaded: a key, a function that tells for a key, or a
            collection of them.
    """

    def __init__(
        self,
        npz: tp.Any,
        path: str = '',
        strict: bool = True,
        ignore_names: IgnoreNames | None = None,
    ) -> None:
        from chainer.serializers import _archive

        if isinstance(npz, np.lib.npyio.NpzFile):
            # Past NumPy's own reading, which would refuse None or run any pickle.
            archive = tp.cast(tp.Any, npz).zip
            name = _file.name_of(archive.filename or archive.fp)
            reader: _load.Reader = _archive.Reader(archive, name)
        else:
            reader = npz if isinstance(npz, _archive.Reader) else _MappingReader(npz)
        super().__init__(reader, path, strict, ignore_names)
        self.npz = npz


def load_npz(
    file: _file.PathOrFile,
    obj: Serializable,
    path: str = '',
    strict: bool = True,
    ignore_names: IgnoreNames | None = None,
) -> None:
    """Loads an object from a file in the npz format: ours, or one of Chainer v7.

    Loading is safe: no pickle is run, and memory stays near that of the object and the file.

    Args:
        file: Path or binary file.
        obj: The object to load into. It is unchanged if loading fails.
        path: The prefix of keys, with its last slash: ``'predictor/'`` to load a part.
        strict: Whether a missing key is an error; else the old value stays.
        ignore_names: Keys that are not loaded: a key, a function that tells for a key, or a
            collection of them.

    Raises:
        KeyError: If a key is missing.
        TypeError: If a dtype can't be cast to that of the target.
        ValueError: If a shape is not that of the target, or the file is damaged or no npz file.
    """
    from chainer.serializers import _archive

    name = _file.name_of(file)
    with _file.reading(file) as stream, _archive.open_archive(stream, name) as reader:
        _load.load_whole(NpzDeserializer(reader, path, strict, ignore_names), obj)
