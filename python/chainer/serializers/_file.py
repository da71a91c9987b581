"""Files that users name or give, and names of files for messages."""

from __future__ import annotations

import contextlib
import io
import os
import typing as tp

from chainerx._files import Path, replaced

PathOrFile: tp.TypeAlias = 'Path | tp.BinaryIO'


def is_path(file: tp.Any) -> tp.TypeGuard[Path]:
    return isinstance(file, str | os.PathLike)


def name_of(file: PathOrFile) -> str:
    """Return the name of a file in messages."""
    name = os.fspath(file) if is_path(file) else getattr(file, 'name', None)
    return repr(name) if isinstance(name, str) else 'the file object'


@contextlib.contextmanager
def writing(file: PathOrFile) -> tp.Iterator[tp.BinaryIO]:
    """A binary file to write to: one that replaces a path, or the one that was given."""
    if not is_path(file):
        yield tp.cast(tp.BinaryIO, file)
        return
    with replaced(file) as path, open(path, 'wb') as stream:
        yield stream


@contextlib.contextmanager
def reading(file: PathOrFile) -> tp.Iterator[tp.BinaryIO]:
    """A binary file to read from, with a position that can be set."""
    if is_path(file):
        with open(file, 'rb') as stream:
            yield stream
    elif hasattr(file, 'seek') and hasattr(file, 'read'):
        yield tp.cast(tp.BinaryIO, file)
    else:
        raise TypeError(f'file must be a path or a binary file, not {type(file).__name__}')


def size_of(stream: tp.BinaryIO) -> int:
    position = stream.tell()
    size = stream.seek(0, io.SEEK_END)
    stream.seek(position)
    return size
