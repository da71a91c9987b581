"""Files that are replaced in one step."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
import typing as tp

Path: tp.TypeAlias = 'str | os.PathLike[str]'


@contextlib.contextmanager
def replaced(path: Path, sync: bool = True) -> tp.Iterator[str]:
    """The path of a temporary file beside ``path``, which replaces it if the block succeeds.

    A reader sees the old file or the new one, whole, also after a crash. Permissions of an old file
    stay; a symbolic link stays and its target is replaced. What is no regular file (a pipe) is
    written directly. Without ``sync`` that holds unless the power fails, and the disk is not waited
    for.
    """
    target = os.path.realpath(os.fsdecode(path))
    try:
        old = os.stat(target)
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        yield target
        return
    folder = os.path.dirname(target)
    # `tempfile` is unsuitable, since only their owner may read its files: the process's umask
    # decides.
    temporary = os.path.join(folder, f'.{os.urandom(8).hex()}.tmp')
    try:
        try:
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except OSError as error:  # names the requested path
            raise OSError(error.errno, error.strerror, os.fsdecode(path)) from None
        yield temporary
        if sync:
            _sync(temporary)
        if old is not None:
            os.chmod(temporary, stat.S_IMODE(old.st_mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    if sync:
        # Some file systems don't support it; the rename happens anyway.
        with contextlib.suppress(OSError):
            _sync(folder)


def remove_leftovers(folder: Path) -> None:
    """Removes temporary files that `replaced` left in a folder when its process was killed.

    Files written to within the last hour stay: another process may be about to finish one.
    """
    with contextlib.suppress(OSError), os.scandir(os.fsdecode(folder)) as entries:
        for entry in entries:
            if re.fullmatch(r'\.[0-9a-f]{16}\.tmp', entry.name):
                with contextlib.suppress(OSError):
                    if entry.stat().st_mtime < time.time() - 3600:
                        os.unlink(entry.path)


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
