"""The log of a training as a table."""

from __future__ import annotations

import numbers
import sys
import typing as tp

from chainer.training import extension
from chainer.training.extensions._files import is_terminal
from chainer.training.extensions.log_report import LogReport

if tp.TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class PrintReport(extension.Extension):
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
        self._entries = list(entries)
        self._log_report = log_report
        self._out = out
        self._log_len = 0
        self._widths = [max(10, len(entry)) for entry in self._entries]
        self._has_header = False

    def initialize(self, trainer: Trainer) -> None:
        """Looks for the log, so that a name that is wrong is found before the training.

        Args:
            trainer (Trainer): Who calls.
        """
        self._find_log(trainer)

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
        log_report = self._find_log(trainer)
        if log_report is self._log_report:
            log_report(trainer)  # nobody else does
        log = log_report.log
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

    def _find_log(self, trainer: Trainer) -> LogReport:
        if not isinstance(self._log_report, str):
            return self._log_report
        found = trainer.get_extension(self._log_report)
        if not hasattr(found, 'log'):
            raise TypeError(f'PrintReport: the extension {self._log_report!r} has no log')
        return tp.cast(LogReport, found)

    def _print(self, observation: dict[str, tp.Any]) -> None:
        row = ''
        for entry, width in zip(self._entries, self._widths, strict=True):
            value = observation.get(entry, '')
            # What `postprocess` puts into an entry may be anything.
            text = f'{value:g}' if isinstance(value, numbers.Real) else str(value)
            row += f'{text:<{width}}  '
        self._stream().write(row + '\n')

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the log, if it is its own.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        if isinstance(self._log_report, LogReport):
            self._log_report.serialize(serializer['_log_report'])
