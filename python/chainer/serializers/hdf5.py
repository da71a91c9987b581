"""Snapshots in the HDF5 format, with the layout of Chainer v7. Needs h5py."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import typing as tp

import numpy as np

from chainer import serializer
from chainer.serializers import _file, _load, _values, npz

if tp.TYPE_CHECKING:
    from chainer._typing import Serializable
    from chainer.serializers._load import IgnoreNames

_available: bool = importlib.util.find_spec('h5py') is not None

# h5py writes deflate, shuffle, fletcher32 and lzf. Other filters would load plug-ins.
_FILTERS: tp.Final = (1, 2, 3, 32000)
_BLOCK_SIZE: tp.Final = 1 << 20  # by which a file in memory grows

# Errors that h5py raises for damaged files.
_ERRORS: tp.Final = (
    AttributeError,
    KeyError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    TypeError,
)


def _h5py() -> tp.Any:
    # Imported on use, because its import takes longer than the rest of this package's.
    if not _available:
        raise RuntimeError(
            'h5py is not installed on your environment. '
            '"pip install h5py" installs it; npz files need nothing'
        )
    return importlib.import_module('h5py')


class HDF5Serializer(serializer.Serializer):
    """Saves into an HDF5 group: a group for each child, a dataset for each value.

    Args:
        group (h5py.Group): Where to write.
        compression (int): Level of gzip for arrays of more than one element.
    """

    def __init__(self, group: tp.Any, compression: int | None = 4) -> None:
        _h5py()
        self.group = group
        self.compression = compression

    def __getitem__(self, key: str) -> HDF5Serializer:
        key = key.strip('/')
        group = self.group.require_group(key) if key else self.group
        return HDF5Serializer(group, self.compression)

    def __call__(self, key: str, value: object) -> tp.Any:
        """Makes a dataset of a value; an empty one of None.

        Raises:
            TypeError: If it can't be saved.
        """
        h5py = _h5py()
        key = key.lstrip('/')
        if value is None:
            self.group.create_dataset(key, data=h5py.Empty('f'))
            return value
        array = _values.to_numpy(key, value)
        if array.dtype.kind == 'U':
            if array.shape:
                raise TypeError(f'{key!r} cannot be saved: HDF5 takes no array of strings here')
            self.group.create_dataset(key, data=array.item(), dtype=h5py.string_dtype())
            return value
        if array.dtype.kind == 'V' and array.dtype == _values.bfloat16():
            array = array.view('V2')
        compression = self.compression if array.size > 1 else None
        self.group.create_dataset(key, data=array, compression=compression)
        return value


def save_hdf5(filename: _file.PathOrFile, obj: Serializable, compression: int | None = 4) -> None:
    """Saves an object to a file in the HDF5 format.

    A path is replaced in one step, when all is written.

    Args:
        filename: Path, or a binary file.
        obj: A link, an optimizer, ..., or a dictionary of arrays.
        compression: Level of gzip.

    Raises:
        RuntimeError: If h5py is not installed.
        OSError: If it can't be written. The old file is kept.
        TypeError: If a value can't be saved. The old file is kept.
    """
    h5py = _h5py()
    # Writes to memory, because the library ends the process where the disk is full.
    with h5py.File(
        'image', 'w', driver='core', backing_store=False, block_size=_BLOCK_SIZE
    ) as group:
        saver = HDF5Serializer(group, compression)
        if isinstance(obj, dict):
            for key, value in obj.items():
                saver(key, None if npz.is_none(value) else value)
        else:
            saver.save(obj)
        group.flush()
        image = group.id.get_file_image()
    with _file.writing(filename) as stream:
        stream.write(image)


@contextlib.contextmanager
def _guarded() -> tp.Iterator[None]:
    try:
        yield
    except _ERRORS as error:
        raise ValueError(f'the file is damaged: {error}') from error


class Reader:
    """The arrays under an HDF5 group, by path.

    Raises:
        ValueError: If the file is damaged.
    """

    def __init__(self, group: tp.Any, name: str) -> None:
        self.name = name
        self._group = group
        self._h5py = _h5py()

    def find_group(self, path: str) -> tp.Any:
        """The group at a path that may end in a slash, or None."""
        path = path.rstrip('/')
        found = self._follow(path) if path else self._group
        return found if isinstance(found, self._h5py.Group) else None

    def _find(self, key: str) -> tp.Any:
        """The dataset, or None."""
        found = self._follow(key)
        return found if isinstance(found, self._h5py.Dataset) else None

    def _follow(self, key: str) -> tp.Any:
        """Return the item, or None. Links out of the tree, to files or back, count as none."""
        group = self._group
        for part in key.split('/'):
            if not isinstance(group, self._h5py.Group) or part in ('', '.', '..'):
                return None
            if not isinstance(group.get(part, getlink=True), self._h5py.HardLink):
                return None
            group = group[part]
        return group

    def __contains__(self, key: str) -> bool:
        with _guarded():
            return self._group is not None and self._find(key) is not None

    def keys(self) -> tp.Iterable[str]:
        """Paths of groups, too."""
        paths: list[str] = []
        with _guarded():
            if self._group is not None:
                self._group.visit(paths.append)
        return paths

    def describe(self, key: str) -> tuple[np.dtype, tuple[int, ...]] | None:
        with _guarded():
            return self._describe(self._find(key))

    def _describe(self, dataset: tp.Any) -> tuple[np.dtype, tuple[int, ...]] | None:
        if dataset.shape is None:
            return None
        dtype = dataset.dtype
        if dtype.kind == 'O' and self._h5py.check_string_dtype(dtype) and dataset.shape == ():
            return np.dtype('U'), ()
        if dtype.kind not in 'biufcSV' or (dtype.kind == 'V' and dtype.str != '|V2'):
            raise ValueError(f'its dtype {dtype} is none that is saved')
        plist = dataset.id.get_create_plist()
        filters = [plist.get_filter(i)[0] for i in range(plist.get_nfilters())]
        if dataset.is_virtual or dataset.external or any(f not in _FILTERS for f in filters):
            raise ValueError('its data are in other files, or need a plug-in')
        if dataset.chunks:
            # A chunk is unpacked as a whole.
            _values.check_growth(dtype, dataset.chunks, _values.n_bytes(dtype, dataset.shape), 0)
        if dtype.kind == 'V':
            dtype = _values.bfloat16()
        return dtype, dataset.shape

    def read(self, key: str, expected: int) -> np.ndarray:
        with _guarded():
            dataset = self._find(key)
            if dataset.dtype.kind == 'O':
                return np.array(dataset.asstr()[()])
            stored = dataset.id.get_storage_size()
            _values.check_growth(dataset.dtype, dataset.shape, stored, expected)
            array = np.asarray(dataset[()])
        if array.dtype.kind == 'V':
            return array.view(_values.bfloat16())
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder('='))


class HDF5Deserializer(_load.Deserializer):
    """Loads from an HDF5 group.

    Args:
        group (h5py.Group): Where to read; None is empty.
        strict (bool): Whether a missing key is an error; else the old value stays.
        path (str): The prefix of keys, with its last slash: ``'predictor/'``.
        ignore_names: Keys that are not loaded: a key, a function that tells for a key, or a
            collection of them.
    """

    def __init__(
        self,
        group: tp.Any,
        strict: bool = True,
        path: str = '',
        ignore_names: IgnoreNames | None = None,
    ) -> None:
        name = 'an empty group' if group is None else repr(getattr(group.file, 'filename', group))
        reader = Reader(group, name)
        super().__init__(reader, path, strict, ignore_names)
        self._find_group = reader.find_group

    @property
    def group(self) -> tp.Any:
        """The group that it reads from; None if there is none in the file."""
        return self._find_group(self.path)


def load_hdf5(
    filename: _file.PathOrFile,
    obj: Serializable,
    path: str = '',
    strict: bool = True,
    ignore_names: IgnoreNames | None = None,
) -> None:
    """Loads an object from a file in the HDF5 format: ours, or one of Chainer v7.

    Links to other files are not followed. Yet the HDF5 library itself, which is large, parses the
    file: for files from strangers the other formats are the safer choice.

    Args:
        filename: Path or binary file.
        obj: The object to load into. It is unchanged if loading fails.
        path (str): The prefix of keys, with its last slash: ``'predictor/'`` to load a part.
        strict (bool): Whether a missing key is an error; else the old value stays.
        ignore_names: Keys that are not loaded: a key, a function that tells for a key, or a
            collection of them.

    Raises:
        KeyError: If a key is missing.
        OSError: If it is no HDF5 file.
        RuntimeError: If h5py is not installed.
        TypeError: If a dtype can't be cast to that of the target.
        ValueError: If a shape is not that of the target, or a dataset is damaged.
    """
    h5py = _h5py()
    try:
        file = h5py.File(filename, 'r')
    except FileNotFoundError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        raise OSError(f'{_file.name_of(filename)} is no HDF5 file: {error}') from error
    with file as group:
        _load.load_whole(HDF5Deserializer(group, strict, path, ignore_names), obj)
