"""Base class of extensions that show the entries of a `LogReport`."""

from __future__ import annotations

import typing as tp

from chainer.training import extension
from chainer.training.extensions.log_report import LogReport

if tp.TYPE_CHECKING:
    from chainer._typing import Row
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


def find_log(trainer: Trainer, log_report: str | LogReport, reader: str) -> LogReport:
    """The extension that has the log.

    Args:
        trainer (Trainer): Who has it.
        log_report (str or LogReport): Its name, or itself.
        reader (str): Who asks.

    Raises:
        ValueError: If there is none of that name.
        TypeError: If it has no log.
    """
    if isinstance(log_report, str):
        try:
            found = trainer.get_extension(log_report)
        except ValueError as error:
            raise ValueError(
                f'{reader}: {error}; extend the trainer with a LogReport, too'
            ) from None
    else:
        found = log_report
    if not hasattr(found, 'log'):
        raise TypeError(f'{reader}: the extension {log_report!r} has no log')
    return tp.cast(LogReport, found)


class LogReader(extension.Extension):
    """Base of extensions that show entries of a `LogReport`.

    Args:
        log_report (str or LogReport): The extension whose entries are shown, or its name. One that
            is given itself is called from here, and need not be in the trainer.
    """

    def __init__(self, log_report: str | LogReport) -> None:
        self._log_report = log_report

    def initialize(self, trainer: Trainer) -> None:
        """Looks for the log, so that a name that is wrong is found before the training.

        Args:
            trainer (Trainer): The caller.
        """
        find_log(trainer, self._log_report, type(self).__name__)

    def _update_log(self, trainer: Trainer) -> list[Row]:
        """The entries so far, that of this iteration included."""
        log_report = self._log_report
        if isinstance(log_report, str):
            return trainer.get_extension(log_report).log
        log_report(trainer)  # nobody else does
        return log_report.log

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the log, if it is its own.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        if isinstance(self._log_report, LogReport):
            self._log_report.serialize(serializer['_log_report'])
