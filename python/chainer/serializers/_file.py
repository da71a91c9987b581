"""Files that are replaced in one step, and names of files for messages."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import typing as tp

Path: tp.TypeAlias = 'str | os.PathLike[str]'
PathOrFile: tp.TypeAlias = 'Path | tp.BinaryIO'


def is_path(file: tp.Any) -> tp.TypeGuard[Path]:
    return isinstance(file, str | os.PathLike)


def name_of(file: tp.Any) -> str:
    """What to call a file in a message."""
    name = os.fspath(file) if is_path(file) else getattr(file, 'name', None)
    return repr(name) if isinstance(name, str) else 'the file object'


@contextlib.contextmanager
def replaced(path: Path) -> tp.Iterator[str]:
    """The path of a temporary file beside ``path``, which takes its place when the block ends well.

    A reader sees the old file or the new one, whole, also after a crash. Permissions of an old file
    stay; a symbolic link stays and its target is replaced. What is no regular file (a pipe) is
    written directly.
    """
    target = os.path.realpath(path)
    try:
        old = os.stat(target)
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        yield target
        return
    folder = os.path.dirname(target)
    # Not by `tempfile`, whose files only their owner may read: the process's umask decides.
    temporary = os.path.join(folder, f'.{os.urandom(8).hex()}.tmp')
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield temporary
        descriptor = os.open(temporary, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if old is not None:
            os.chmod(temporary, stat.S_IMODE(old.st_mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    with contextlib.suppress(OSError):  # some file systems can't; the rename is done anyway
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


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
