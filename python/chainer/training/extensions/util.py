"""Progress that is shown while it happens."""

from __future__ import annotations

import collections
import datetime
import sys
import time
import typing as tp
from xml.etree import ElementTree

from chainer.training._output import show
from chainer.training._report.elements import clean
from chainer.training.extensions._screen import Area, is_notebook, is_terminal


class ProgressBar:
    """Base of progress displays: lines that are overwritten, or plain lines in a file.

    A subclass has `get_lines` and `get_text`.

    Args:
        out: The stream; default: the standard output.
        area (Area): Where in a notebook; default: a new place below.
    """

    def __init__(self, out: tp.TextIO | None = None, area: Area | None = None) -> None:
        self._out = out
        self._lines = 0
        self._area = area or Area()
        # When how far: over as many updates as speed is averaged.
        self._recent: collections.deque[tuple[float, float, float]] = collections.deque(maxlen=100)

    def get_lines(self) -> list[str]:
        """Return the lines for a terminal or a notebook. Overridden."""
        raise NotImplementedError

    def get_text(self) -> str:
        """Return one line for other outputs. Overridden."""
        raise NotImplementedError

    @property
    def stream(self) -> tp.TextIO:
        """Where to."""
        return sys.stdout if self._out is None else self._out

    def update(self) -> None:
        """Shows how it is."""
        out = self.stream
        if is_notebook(out):
            text = clean('\n'.join(self.get_lines()))
            element = ElementTree.Element('pre')
            element.text = text
            self._area.show(text, element, at_once=False)
        elif is_terminal(out):
            back, lines = self._back(), self.get_lines()
            show(out, f'{back}\033[J' + ''.join(line + '\n' for line in lines))
            self._lines = len(lines)
        else:
            show(out, self.get_text() + '\n')

    def close(self) -> None:
        """Takes the lines away."""
        self._area.clear()
        if self._lines:
            show(self.stream, f'{self._back()}\033[J')
            self._lines = 0

    def _back(self) -> str:
        """Return the control sequence that moves the cursor to the first line."""
        return f'\033[{self._lines}A' if self._lines else ''

    def update_speed(self, iteration: float, epoch_detail: float) -> tuple[float, float]:
        """Takes in how far it is.

        Args:
            iteration (float): Iterations.
            epoch_detail (float): Epochs.

        Returns:
            tuple of float: Iterations per second, and epochs per second; infinity at first.
        """
        now = time.perf_counter()
        self._recent.append((iteration, epoch_detail, now))
        old_iteration, old_epoch, old = self._recent[0]
        if now <= old or len(self._recent) < 2:
            return float('inf'), float('inf')
        return (iteration - old_iteration) / (now - old), (epoch_detail - old_epoch) / (now - old)


def bar(label: str, rate: float, length: int = 50) -> str:
    """A line with a bar.

    Args:
        label (str): The text before the bar.
        rate (float): How much of it is full, 0 to 1.
        length (int): Of the bar.
    """
    marks = '#' * int(rate * length)
    return f'{label} [{marks:.<{length}}] {rate:6.2%}'


def speed_line(speed: float, seconds: float) -> str:
    """The line about speed and the time that is left."""
    return f'{speed:10.5g} iters/sec. Estimated time to finish: {duration(seconds)}.'


def duration(seconds: float) -> str:
    """Seconds as hours, minutes and seconds."""
    if not 0 <= seconds < 1e9:
        return 'unknown'
    return str(datetime.timedelta(seconds=round(seconds)))
