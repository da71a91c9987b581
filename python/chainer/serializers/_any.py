"""Files of any format."""

from __future__ import annotations

import os
import typing as tp

from chainer.serializers import _file
from chainer.serializers.hdf5 import load_hdf5, save_hdf5
from chainer.serializers.npz import load_npz, save_npz
from chainer.serializers.safetensors import load_safetensors, save_safetensors

if tp.TYPE_CHECKING:
    from chainer._typing import Serializable
    from chainer.serializers._load import IgnoreNames

_SAVERS: tp.Final[dict[str, tp.Callable[[tp.Any, tp.Any], None]]] = {
    '.npz': save_npz,
    '.h5': save_hdf5,
    '.hdf5': save_hdf5,
    '.safetensors': save_safetensors,
}


def save(file: _file.Path, obj: Serializable) -> None:
    """Saves an object in the format that the suffix of the path names.

    Args:
        file: Path that ends with ``.npz``, ``.safetensors``, ``.h5`` or ``.hdf5``.
        obj: A link, an optimizer, ...

    Raises:
        ValueError: For another suffix.
    """
    suffix = os.path.splitext(os.fspath(file))[1].lower()
    if suffix not in _SAVERS:
        raise ValueError(f'{_file.name_of(file)} must end with one of {", ".join(_SAVERS)}')
    _SAVERS[suffix](file, obj)


def load(
    file: _file.PathOrFile,
    obj: Serializable,
    path: str = '',
    strict: bool = True,
    ignore_names: IgnoreNames | None = None,
) -> None:
    """Loads an object from a file of any format, which its content tells, not its name.

    Args:
        file: Path or binary file: npz, HDF5 or safetensors.
        obj: The object to load into. It is unchanged if loading fails.
        path: The prefix of keys, with its last slash: ``'predictor/'`` to load a part.
        strict: Whether a missing key is an error; else the old value stays.
        ignore_names: As in `load_npz`.

    Raises:
        KeyError: If a key is missing.
        TypeError: If a dtype can't be cast to that of the target.
        ValueError: If the file has no known format or is damaged, or shapes differ.
    """
    with _file.reading(file) as stream:
        position = stream.tell()
        start = stream.read(9)
        stream.seek(position)
    if start.startswith((b'PK\x03\x04', b'PK\x05\x06')):
        load_npz(file, obj, path, strict, ignore_names)
    elif start.startswith(b'\x89HDF\r\n\x1a\n'):
        load_hdf5(file, obj, path, strict, ignore_names)
    elif start[8:] == b'{':
        load_safetensors(file, obj, path, strict, ignore_names)
    else:
        hint = ': it may be a pickle, and those can run any code' if start[:1] == b'\x80' else ''
        raise ValueError(
            f'{_file.name_of(file)} starts with {start!r} and is neither npz nor HDF5 nor '
            f'safetensors{hint}'
        )
