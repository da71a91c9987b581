"""Files that stay open between examples."""

from __future__ import annotations

import contextlib
import os
import threading
import typing as tp


class Opened:
    """What a function opens; opened anew in each process that uses it.

    A forked process that used what its parent has opened would move its parent's place in the file.
    Threads use it one at a time.

    Args:
        opener (callable): Opens it, also what was pickled; None if it can't be opened again.
        opened: What it has opened already; pickled where there is no opener.
    """

    def __init__(self, opener: tp.Callable[[], tp.Any] | None, opened: tp.Any = None) -> None:
        self._opener = opener
        self._set(opened)

    def _set(self, opened: tp.Any) -> None:
        if opened is None and self._opener is not None:
            opened = self._opener()
        self._opened = opened
        self._lock = threading.Lock()
        self._pid = os.getpid()

    @contextlib.contextmanager
    def use(self) -> tp.Iterator[tp.Any]:
        """What is open, for one thread."""
        if self._pid != os.getpid():
            self._set(self._opened if self._opener is None else None)
        with self._lock:
            yield self._opened

    def close(self) -> None:
        """Closes it."""
        self._opened.close()

    def __getstate__(self) -> object:
        return self._opener, self._opened if self._opener is None else None

    def __setstate__(self, state: tp.Any) -> None:
        self._opener, opened = state
        self._set(opened)
