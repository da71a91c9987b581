"""Snapshots in the safetensors format: a length, a JSON header, and the data of the arrays.

The format is read and written here, without the package of that name, which does not know our
scalars and None. Other programs read the files; the keys are those of the npz format.
"""

from __future__ import annotations

import functools
import json
import typing as tp

import numpy as np

from chainer.serializers import _file, _load, _values
from chainer.serializers.npz import is_none, serialize

if tp.TYPE_CHECKING:
    from chainer._typing import Serializable
    from chainer.serializers._load import IgnoreNames

# Room for 100,000 arrays. JSON takes some ten times that once it is parsed.
_MAX_HEADER: tp.Final = 1 << 24
_METADATA: tp.Final = '__metadata__'
# The format has arrays of numbers only. What else a snapshot holds stands in the metadata, as JSON.
_OURS: tp.Final = 'chainer'


@functools.cache
def _dtypes() -> dict[str, np.dtype]:
    return {
        'BOOL': np.dtype('?'),
        **{f'I{8 * n}': np.dtype(f'<i{n}') for n in (1, 2, 4, 8)},
        **{f'U{8 * n}': np.dtype(f'<u{n}') for n in (1, 2, 4, 8)},
        **{f'F{8 * n}': np.dtype(f'<f{n}') for n in (2, 4, 8)},
        'BF16': _values.bfloat16(),
        'C64': np.dtype('<c8'),
    }


def save_safetensors(
    file: _file.PathOrFile, obj: Serializable, metadata: tp.Mapping[str, str] | None = None
) -> None:
    """Saves an object to a file in the safetensors format.

    A path is replaced in one step, when all is written.

    Args:
        file: Path or binary file.
        obj: A link, an optimizer, ..., or a dictionary of arrays.
        metadata: Texts to store along, like the license of a model.

    Raises:
        TypeError: If the format has no such dtype (strings but those of one element, complex128).
    """
    if metadata and (_OURS in metadata or not all(isinstance(x, str) for x in metadata.values())):
        raise TypeError(f'metadata must map strings to strings, and not have the key {_OURS!r}')
    names = {dtype: name for name, dtype in _dtypes().items()}
    values = obj if isinstance(obj, dict) else serialize(obj)
    arrays: dict[str, np.ndarray] = {}
    others: dict[str, str | None] = {}
    for key, value in values.items():
        if is_none(value):
            others[key] = None
            continue
        array = _values.to_numpy(key, value)
        if array.dtype.kind == 'U' and array.shape == ():
            others[key] = array.item()
        elif array.dtype.newbyteorder('<') in names and key != _METADATA:
            little = array.dtype.newbyteorder('<')
            arrays[key] = np.ascontiguousarray(array.astype(little, copy=False)).reshape(
                array.shape
            )
        else:
            raise TypeError(f'{key!r} cannot be saved: safetensors has no dtype {array.dtype}')
    header: dict[str, object] = {}
    texts = dict(metadata or {}) | ({_OURS: json.dumps(others)} if others else {})
    if texts:
        header[_METADATA] = texts
    # The widest first, so that each array is aligned.
    keys = sorted(arrays, key=lambda key: (-arrays[key].dtype.itemsize, key))
    end = 0
    for key in keys:
        begin, end = end, end + arrays[key].nbytes
        header[key] = {
            'dtype': names[arrays[key].dtype],
            'shape': list(arrays[key].shape),
            'data_offsets': [begin, end],
        }
    text = json.dumps(header, separators=(',', ':')).encode()
    text += b' ' * (-len(text) % 8)
    with _file.writing(file) as stream:
        stream.write(len(text).to_bytes(8, 'little') + text)
        for key in keys:
            stream.write(arrays[key].tobytes())


class Reader:
    """The arrays of a safetensors file, by key.

    Raises:
        ValueError: If the header is not exactly right: too long, keys twice, unknown dtypes, sizes
            that differ from shapes, overlaps, gaps, data missing or left over.
    """

    def __init__(self, stream: tp.BinaryIO, name: str) -> None:
        self.name = name
        self._stream = stream
        try:
            self._read_header()
        except ValueError as error:
            raise ValueError(f'{name} is no valid safetensors file: {error}') from error
        except RecursionError as error:
            text = f'{name} is no valid safetensors file: lists in its header are nested too deep'
            raise ValueError(text) from error

    def _read_header(self) -> None:
        stream = self._stream
        size = _file.size_of(stream) - stream.tell()
        length = int.from_bytes(stream.read(8), 'little')
        if size < 8 or length > min(size - 8, _MAX_HEADER):
            raise ValueError(
                f'a header of {length} bytes in a file of {size}, at most {_MAX_HEADER} are allowed'
            )
        text = stream.read(length)
        if not text.startswith(b'{'):
            raise ValueError('no header in JSON')
        header = json.loads(text.decode(), object_pairs_hook=_unique)
        self._start = stream.tell()
        metadata = header.pop(_METADATA, {})
        self._others = _parse_others(metadata)
        self._entries: dict[str, tuple[np.dtype, tuple[int, ...], int]] = {}
        spans = []
        for key, entry in header.items():
            dtype, shape, begin, end = _parse_entry(key, entry)
            if key in self._others:
                raise ValueError(f'{key!r} twice')
            self._entries[key] = dtype, shape, begin
            spans.append((begin, end, key))
        last = 0
        for begin, end, key in sorted(spans):
            if begin != last:
                raise ValueError(f'{key!r} starts at byte {begin} of the data, expected {last}')
            last = end
        if last != size - 8 - length:
            raise ValueError(f'{size - 8 - length} bytes of data, but the arrays have {last}')

    def __contains__(self, key: str) -> bool:
        return key in self._entries or key in self._others

    def keys(self) -> tp.Iterable[str]:
        return (*self._entries, *self._others)

    def describe(self, key: str) -> tuple[np.dtype, tuple[int, ...]] | None:
        if key in self._entries:
            return self._entries[key][:2]
        text = self._others[key]
        return None if text is None else (np.array(text).dtype, ())

    def read(self, key: str, expected: int) -> np.ndarray:
        if key not in self._entries:
            return np.array(self._others[key])
        dtype, shape, begin = self._entries[key]
        array = np.empty(shape, dtype)
        self._stream.seek(self._start + begin)
        data = self._stream.read(array.nbytes)
        if len(data) != array.nbytes:
            raise ValueError(f'it ends after {len(data)} of {array.nbytes} bytes')
        if dtype.kind == 'b' and data.strip(b'\0\1'):
            raise ValueError('a BOOL is neither 0 nor 1')
        if data:
            array.reshape(-1).view(np.uint8)[:] = np.frombuffer(data, np.uint8)
        return array


def _unique(pairs: list[tuple[str, tp.Any]]) -> dict[str, tp.Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError('a key of the header is there twice')
    return result


def _parse_others(metadata: tp.Any) -> dict[str, str | None]:
    is_texts = isinstance(metadata, dict) and all(isinstance(x, str) for x in metadata.values())
    if not is_texts:
        raise ValueError(f'{_METADATA} must map strings to strings')
    others = json.loads(metadata.get(_OURS, '{}'), object_pairs_hook=_unique)
    if not isinstance(others, dict) or not all(isinstance(x, str | None) for x in others.values()):
        raise ValueError(f'{_OURS!r} of {_METADATA} must map keys to texts or null')
    return others


def _parse_entry(key: str, entry: object) -> tuple[np.dtype, tuple[int, ...], int, int]:
    if not isinstance(entry, dict) or entry.keys() != {'dtype', 'shape', 'data_offsets'}:
        raise ValueError(f'{key!r} must have dtype, shape and data_offsets')
    name, shape, offsets = entry['dtype'], entry['shape'], entry['data_offsets']
    if not isinstance(name, str) or name not in _dtypes():
        raise ValueError(f'{key!r} has dtype {str(name)[:40]!r}, expected one of {[*_dtypes()]}')
    dtype = _dtypes()[name]
    if not _is_sizes(shape) or not _is_sizes(offsets) or len(offsets) != 2:
        raise ValueError(f'{key!r}: shape and data_offsets must be lists of sizes')
    size = _values.n_bytes(dtype, tuple(shape))
    if offsets[1] - offsets[0] != size:
        raise ValueError(f'{key!r} has {size} bytes by its shape, but data_offsets {offsets}')
    return dtype, tuple(shape), *offsets


def _is_sizes(value: object) -> bool:
    return isinstance(value, list) and all(type(n) is int and 0 <= n < 1 << 62 for n in value)


def load_safetensors(
    file: _file.PathOrFile,
    obj: Serializable,
    path: str = '',
    strict: bool = True,
    ignore_names: IgnoreNames | None = None,
) -> None:
    """Loads an object from a file in the safetensors format.

    Args:
        file: Path or binary file.
        obj: The object to load into. It is unchanged if loading fails.
        path (str): The prefix of keys, with its last slash: ``'predictor/'`` to load a part.
        strict (bool): Whether a missing key is an error; else the old value stays.
        ignore_names: Keys that are not loaded: a key, a function that tells for a key, or a
            collection of them.

    Raises:
        KeyError: If a key is missing.
        TypeError: If a dtype can't be cast to that of the target.
        ValueError: If a shape is not that of the target, or the file is not valid.
    """
    with _file.reading(file) as stream:
        reader = Reader(stream, _file.name_of(file))
        _load.load_whole(_load.Deserializer(reader, path, strict, ignore_names), obj)
