"""The log of a training as files that grow by a line per entry."""

from __future__ import annotations

import csv
import io
import json
import os
import typing as tp

from chainer.training import extension
from chainer.training.extensions._files import write_text
from chainer.training.extensions._log_reader import LogReader

if tp.TYPE_CHECKING:
    from chainer.training.extensions.log_report import LogReport
    from chainer.training.trainer import Trainer

Entry: tp.TypeAlias = 'dict[str, tp.Any]'

_FIRST: tp.Final = ('epoch', 'iteration', 'elapsed_time')


class _LogFile(LogReader):
    """Base: a file with a line per entry, which is appended to as long as nobody else writes it."""

    # After the log, whichever of them was added first: no entry is missed at the end.
    priority = extension.PRIORITY_READER - 1

    def __init__(self, filename: str, log_report: str | LogReport) -> None:
        super().__init__(log_report)
        self._filename = filename
        self._written = 0
        # Which file it was, and how long, after the last line. None: it is not this training's.
        self._file: tuple[int, int] | None = None

    def __call__(self, trainer: Trainer) -> None:
        """Writes the new entries.

        Args:
            trainer (Trainer): The caller.

        Raises:
            OSError: If it can't be written; there is no half line then.
        """
        log = self._update_log(trainer)
        if len(log) == self._written and self._file is not None:
            return
        if not log:
            return
        path = os.path.join(trainer.out, self._filename)
        new = log[self._written :]
        if len(log) < self._written or not self._fits(new) or not self._append(path, new):
            # Not the lines that are there: a training that goes on from a snapshot makes those
            # after it once more, and a process that was killed may have left half a line.
            write_text(path, self._head(log) + self._lines(log))
            status = os.stat(path)
            self._file = status.st_ino, status.st_size
        self._written = len(log)

    def _append(self, path: str, entries: list[Entry]) -> bool:
        """Whether the file is the one that was left, and has the new lines now."""
        data = self._lines(entries).encode()
        if self._file is None:
            return False
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        except FileNotFoundError:
            return False
        try:
            status = os.fstat(descriptor)
            if (status.st_ino, status.st_size) != self._file:
                return False
            try:
                done = 0
                while done < len(data):  # a disk that is nearly full takes a part
                    done += os.write(descriptor, data[done:])
            except BaseException:
                os.ftruncate(descriptor, status.st_size)
                raise
        finally:
            os.close(descriptor)
        self._file = status.st_ino, status.st_size + len(data)
        return True

    def _fits(self, entries: list[Entry]) -> bool:
        """Return whether entries can be appended to the file."""
        return True

    def _head(self, log: list[Entry]) -> str:
        return ''

    def _lines(self, entries: list[Entry]) -> str:
        raise NotImplementedError


class CSVReport(_LogFile):
    """Writes entries of a `LogReport` to a file of comma-separated values.

    The first line has the names: ``epoch``, ``iteration``, ``elapsed_time``, then the others as
    they came. An entry is appended as it is made; for a value that no entry had before, the file is
    replaced by one with the new column. A training that goes on from a snapshot goes on with the
    file, with neither lost nor double rows.

    Args:
        filename (str): Name of the file in the trainer's folder.
        keys (iterable of str): Names of the columns; default: all values of all entries.
        log_report (str or LogReport): The extension whose entries are written, or its name. One
            that is given itself need not be in the trainer.
    """

    def __init__(
        self,
        filename: str = 'log.csv',
        keys: tp.Iterable[str] | None = None,
        log_report: str | LogReport = 'LogReport',
    ) -> None:
        if isinstance(keys, str):
            raise TypeError(f'CSVReport: keys must be a list of names, not {keys!r}')
        super().__init__(filename, log_report)
        self._keys = None if keys is None else list(keys)
        self._columns = self._keys or []

    def _fits(self, entries: list[Entry]) -> bool:
        return self._keys is not None or all(set(self._columns).issuperset(e) for e in entries)

    def _head(self, log: list[Entry]) -> str:
        if self._keys is None:
            self._columns = list(dict.fromkeys(k for entry in (_FIRST, *log) for k in entry))
        return _row(self._columns)

    def _lines(self, entries: list[Entry]) -> str:
        return ''.join(_row([entry.get(k) for k in self._columns]) for entry in entries)


class JSONLinesReport(_LogFile):
    """Writes entries of a `LogReport` to a file with a line of JSON per entry.

    Lines are appended; a training that goes on from a snapshot goes on with the file, as that of
    `CSVReport`. NaN and infinity are written as in the log: ``NaN``, ``Infinity``.

    Args:
        filename (str): Name of the file in the trainer's folder.
        log_report (str or LogReport): The extension whose entries are written, or its name. One
            that is given itself need not be in the trainer.
    """

    def __init__(
        self, filename: str = 'log.jsonl', log_report: str | LogReport = 'LogReport'
    ) -> None:
        super().__init__(filename, log_report)

    def _lines(self, entries: list[Entry]) -> str:
        return ''.join(json.dumps(entry) + '\n' for entry in entries)


def _row(values: list[tp.Any]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator='\n').writerow(values)
    # Names of files may have halves of surrogates, which UTF-8 has not.
    return stream.getvalue().encode('utf-8', 'backslashreplace').decode('utf-8')
