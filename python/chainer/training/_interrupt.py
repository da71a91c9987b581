"""Ctrl-C that waits for the end of an iteration."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import types
import typing as tp
import warnings

from chainer.training._output import show

_MESSAGE: tp.Final = (
    '\nInterrupted: a snapshot is taken after this iteration. Once more to stop at once.\n'
)


class Interrupt:
    """A context in which the first Ctrl-C only sets `requested`; the next one raises as usual.

    An interrupted update leaves a state that training cannot resume from. Nothing changes in
    threads other than the main one, or where the user has set a signal handler.
    """

    def __init__(self, enabled: bool) -> None:
        self.requested = False
        self._enabled = enabled and threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Interrupt:
        if self._enabled and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
        else:
            self._enabled = False
        return self

    def __exit__(self, *_: object) -> None:
        # Not over a handler that somebody has set meanwhile.
        if self._enabled and signal.getsignal(signal.SIGINT) == self._handle:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _handle(self, number: int, frame: types.FrameType | None) -> None:
        if self.requested:
            signal.default_int_handler(number, frame)
        self.requested = True
        # Whatever goes wrong with the message, the iteration goes on: it may be in the middle of
        # another write to the same stream, which then raises.
        with contextlib.suppress(Exception), warnings.catch_warnings(action='ignore'):
            show(sys.stderr, _MESSAGE)
