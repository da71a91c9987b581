"""The log of a training as a table."""

from __future__ import annotations

import numbers
import sys
import typing as tp

from chainer.training.extensions._files import is_terminal
from chainer.training.extensions._log_reader import LogReader

if tp.TYPE_CHECKING:
    from chainer.training.extensions.log_report import LogReport
    from chainer.training.trainer import Trainer


class PrintReport(LogReader):
    """Prints entries of a `LogReport` as rows of a table.

    In a training that is resumed, the rows from before are printed first. In a terminal a row takes
    the place of a progress bar that is below the table; elsewhere there are plain lines.

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

    def __call__(self, trainer: Trainer) -> None:
        """Prints what is new.

        Args:
            trainer (Trainer): Who calls.
        """
        out = self._stream()
        if not self._has_header:
            cells = (f'{e:<{w}}' for e, w in zip(self._entries, self._widths, strict=True))
            out.write('  '.join(cells) + '\n')
            self._has_header = True
        log = self._update_log(trainer)
        if len(log) < self._log_len:  # it was loaded from an older snapshot
            self._log_len = 0
        while self._log_len < len(log):
            if is_terminal(out):
                out.write('\033[J')
            self._print(log[self._log_len])
            self._log_len += 1
        out.flush()

    def _stream(self) -> tp.Any:
        return sys.stdout if self._out is None else self._out

    def _print(self, observation: dict[str, tp.Any]) -> None:
        row = ''
        for entry, width in zip(self._entries, self._widths, strict=True):
            value = observation.get(entry, '')
            # What `postprocess` puts into an entry may be anything.
            text = f'{value:g}' if isinstance(value, numbers.Real) else str(value)
            row += f'{text:<{width}}  '
        self._stream().write(row + '\n')
