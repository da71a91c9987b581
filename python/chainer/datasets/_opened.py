"""Files that stay open between examples."""

from __future__ import annotations

import contextlib
import os
import threading
import typing as tp


class Opened:
    """A resource that a function opens; each process that uses it opens it anew.

    A forked process that used its parent's file would move the parent's position in it. Threads use
    it one at a time.

    Args:
        opener (callable): Opens it, also after unpickling; None if it can't be opened again.
        opened: The resource, if it is open already; pickled where there is no opener.
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
        """The open resource, for one thread."""
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
