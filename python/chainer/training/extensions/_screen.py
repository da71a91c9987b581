"""Capabilities of the output: it may move a cursor, or replace shown elements."""

from __future__ import annotations

import time
import typing as tp
from xml.etree import ElementTree

from chainer.training._report.elements import Element, to_html

# Pictures per second that are worth their way to a browser.
_RATE: tp.Final = 10


def is_terminal(stream: tp.TextIO) -> bool:
    """Return whether text written to a stream may move the cursor."""
    isatty = getattr(stream, 'isatty', None)
    return bool(isatty and isatty()) and not is_notebook(stream)


def is_notebook(stream: tp.TextIO) -> bool:
    """Whether a stream is the output of a cell of a notebook, which knows no cursor."""
    return type(stream).__module__.split('.')[0] == 'ipykernel'


class Area:
    """A place in the output of a cell that is written over.

    It stays the same one when it is cleared: each place is there for good.
    """

    def __init__(self) -> None:
        self._handle: tp.Any = None
        self._shown = float('-inf')

    def show(self, text: str, element: Element, at_once: bool = True) -> None:
        """Replaces the shown output.

        Args:
            text (str): For where there is no HTML.
            element (Element): As HTML.
            at_once (bool): Whether it may not be left out, however soon it comes.
        """
        now = time.perf_counter()
        if not at_once and now - self._shown < 1 / _RATE:
            return
        self._shown = now
        data = {'text/plain': text, 'text/html': to_html(element)}
        if self._handle is None:
            from IPython.display import display

            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def clear(self) -> None:
        """Leaves nothing there."""
        if self._handle is not None:
            self.show('', ElementTree.Element('span'))
