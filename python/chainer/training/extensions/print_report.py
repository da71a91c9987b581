"""The log of a training as a table."""

from __future__ import annotations

import numbers
import sys
import typing as tp
from xml.etree import ElementTree

from chainer.training._output import show
from chainer.training._report.elements import add
from chainer.training.extensions._log_reader import LogReader
from chainer.training.extensions._screen import Area, is_notebook, is_terminal

if tp.TYPE_CHECKING:
    from chainer._typing import Row
    from chainer.training.extensions.log_report import LogReport
    from chainer.training.trainer import Trainer


_MOST_ROWS: tp.Final = 200


class PrintReport(LogReader):
    """Prints entries of a `LogReport` as rows of a table.

    In a training that is resumed, the rows from before are printed first. In a terminal a row takes
    the place of a progress bar that is below the table; in a notebook it is a table of HTML, of the
    last rows if there are many; elsewhere there are plain lines.

    Args:
        entries (list of str): Names of the columns. A value that an entry has not stays empty.
        log_report (str or LogReport): The extension whose entries are printed, or its name. One
            that is given itself need not be in the trainer.
        out: The stream; default: the standard output.
    """

    def __init__(
        self,
        entries: tp.Sequence[str],
        log_report: str | LogReport = 'LogReport',
        out: tp.Any = None,
    ) -> None:
        if isinstance(entries, str):
            raise TypeError(f'PrintReport: entries must be a list of names, not {entries!r}')
        super().__init__(log_report)
        self._entries = list(entries)
        self._out = out
        self._log_len = 0
        self._widths = [max(10, len(entry)) for entry in self._entries]
        self._has_header = False
        self._area = Area()

    def __call__(self, trainer: Trainer) -> None:
        """Prints the new entries.

        Args:
            trainer (Trainer): The caller.
        """
        log = self._update_log(trainer)
        if len(log) == self._log_len and self._has_header:
            return  # as in most iterations
        if len(log) < self._log_len:  # it was loaded from an older snapshot
            self._log_len = 0
        out = self._stream()
        if is_notebook(out):
            self._show(log[-_MOST_ROWS:])
        else:
            self._print(out, log[self._log_len :])
        self._has_header = True
        self._log_len = len(log)

    def _print(self, out: tp.Any, log: list[Row]) -> None:
        header = [] if self._has_header else [self._line(self._entries)[:-2]]
        rows = [self._line(self._cells(entry)) for entry in log]
        erase = '\033[J' if is_terminal(out) else ''
        show(out, ''.join(f'{line}\n' for line in (*header, *(erase + row for row in rows))))

    def _stream(self) -> tp.Any:
        return sys.stdout if self._out is None else self._out

    def _cells(self, entry: Row) -> list[str]:
        values = [entry.get(name, '') for name in self._entries]
        # `postprocess` may put any object into an entry.
        return [f'{v:g}' if isinstance(v, numbers.Real) else str(v) for v in values]

    def _line(self, cells: list[str]) -> str:
        return ''.join(f'{c:<{w}}  ' for c, w in zip(cells, self._widths, strict=True))

    def _show(self, log: list[Row]) -> None:
        table = ElementTree.Element('table')
        lines = [self._entries, *map(self._cells, log)]
        for i, cells in enumerate(lines):
            row = add(table, 'tr')
            for cell in cells:
                add(row, 'td' if i else 'th', cell)
        self._area.show('\n'.join(map(self._line, lines)), table)
