"""The log of a training for TensorBoard."""

from __future__ import annotations

import glob
import os
import time
import typing as tp

import numpy as np

from chainer.backends import _cpu
from chainer.training import extension
from chainer.training.extensions._log_reader import LogReader, find_log

if tp.TYPE_CHECKING:
    from chainer._typing import Row
    from chainer.training.extensions.log_report import LogReport
    from chainer.training.trainer import Trainer

_PREFIX: tp.Final = 'events'


class TensorBoardReport(LogReader):
    """Writes entries of a `LogReport` to an event file of TensorBoard, by tensorboardX.

    Each value of an entry is a scalar of its iteration. A training that goes on from a snapshot
    begins another file, which also says what of the older ones no longer counts. Files are written
    by this thread, and flushed after each entry.

    Args:
        log_report (str or LogReport): The extension whose entries are written, or its name. One
            that is given itself need not be in the trainer.
        folder (str): Where, in the trainer's folder; ``tensorboard --logdir`` finds it below, too.
        histograms (bool): Whether there are histograms of all parameters and their gradients with
            each entry.
        hyperparameters (dict): Numbers, truth values and texts by name, for the tab HPARAMS.
        environment (bool): Whether the command line, the git commit and what `chainerx.show_config`
            shows are written as a text.

    Raises:
        ImportError: If tensorboardX is not installed.
        TypeError: If a hyperparameter is something else.
    """

    # After the log, whichever of them was added first.
    priority = extension.PRIORITY_READER - 1

    def __init__(
        self,
        log_report: str | LogReport = 'LogReport',
        folder: str = 'tensorboard',
        histograms: bool = False,
        hyperparameters: dict[str, tp.Any] | None = None,
        environment: bool = True,
    ) -> None:
        super().__init__(log_report)
        try:
            import tensorboardX  # noqa: F401
        except ImportError as error:
            raise ImportError(
                'TensorBoardReport: tensorboardX is not installed; "pip install tensorboardX" '
                'installs it'
            ) from error
        for name, value in (hyperparameters or {}).items():
            if not isinstance(value, bool | int | float | str):
                raise TypeError(
                    f'TensorBoardReport: hyperparameter {name!r} must be a number, a truth value '
                    f'or a text, not {value!r}'
                )
        self._folder = folder
        self._histograms = histograms
        self._hyperparameters = hyperparameters
        self._environment = environment
        self._writer: tp.Any = None
        self._written = 0
        self._has_hyperparameters = False

    def initialize(self, trainer: Trainer) -> None:
        """Begins a file.

        Args:
            trainer (Trainer): The caller.

        Raises:
            OSError: If it can't be written.
        """
        from tensorboardX.event_file_writer import EventsWriter
        from tensorboardX.proto.event_pb2 import SessionLog

        super().initialize(trainer)
        prefix = os.path.join(os.path.abspath(trainer.out), self._folder, _PREFIX)
        os.makedirs(os.path.dirname(prefix), exist_ok=True)
        # Entries from before a snapshot are in older files, if these still exist.
        has_files = bool(glob.glob(glob.escape(prefix) + '.*'))
        log = find_log(trainer, self._log_report, 'TensorBoardReport').log
        self._written = len(log) if has_files else 0
        # The folder is unique, because names end with a second, and a file of the same name would
        # be truncated.
        self._writer = EventsWriter(prefix, f'.{os.getpid()}.{time.time_ns()}')
        # Later values of older files are those of a training that was not gone on with.
        iteration = trainer.updater.iteration
        self._put(iteration + 1, session_log=SessionLog(status=SessionLog.START))
        if self._environment:
            self._put_environment(iteration)
        self._writer.flush()

    def __call__(self, trainer: Trainer) -> None:
        """Writes the new entries.

        Args:
            trainer (Trainer): The caller.

        Raises:
            OSError: If it can't be written.
        """
        log = self._update_log(trainer)
        if len(log) < self._written:  # a snapshot was loaded meanwhile
            self._written = max(len(log) - 1, 0)
        if len(log) == self._written:
            return
        if self._hyperparameters is not None and not self._has_hyperparameters:
            self._put_hyperparameters(log[-1])
        for entry in log[self._written :]:
            self._put_scalars(entry)
        if self._histograms:
            self._put_histograms(trainer)
        self._writer.flush()
        self._written = len(log)

    def finalize(self) -> None:
        """Closes the file."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _put(self, step: int, **what: object) -> None:
        from tensorboardX.proto.event_pb2 import Event

        self._writer.write_event(Event(wall_time=time.time(), step=step, **what))

    def _put_scalars(self, entry: Row) -> None:
        from tensorboardX.proto.summary_pb2 import Summary

        values = [
            Summary.Value(tag=_tag(name), simple_value=value)
            for name, value in entry.items()
            # `postprocess` may put any object into an entry.
            if name != 'iteration' and isinstance(value, int | float)
        ]
        self._put(int(entry['iteration']), summary=Summary(value=values))

    def _put_histograms(self, trainer: Trainer) -> None:
        from tensorboardX.proto.summary_pb2 import Summary
        from tensorboardX.summary import make_histogram

        values = []
        for name, optimizer in trainer.updater.get_all_optimizers().items():
            for path, param in optimizer.target.namedparams(include_uninit=False):
                for kind, array in (('parameters', param.array), ('gradients', param.grad)):
                    if array is None:
                        continue
                    numbers = np.asarray(_cpu._to_cpu(array)).astype(np.float64).ravel()
                    numbers = numbers[np.isfinite(numbers)]
                    if numbers.size:
                        histogram = make_histogram(numbers, bins=64)
                        values.append(
                            Summary.Value(tag=_tag(f'{kind}/{name}{path}'), histo=histogram)
                        )
        self._put(trainer.updater.iteration, summary=Summary(value=values))

    def _put_hyperparameters(self, entry: Row) -> None:
        from tensorboardX.summary import hparams

        names = [_tag(name) for name in entry if name != 'iteration']
        for summary in hparams(self._hyperparameters, dict.fromkeys(names)):
            self._put(0, summary=summary)
        self._has_hyperparameters = True

    def _put_environment(self, iteration: int) -> None:
        from tensorboardX.summary import text

        from chainer.training._report import facts

        # Markdown: a block of code, in which nothing has a meaning.
        lines = [f'    {name:<16} {value}' for name, value in facts.environment()]
        self._put(iteration, summary=text('environment', _tag('\n'.join(lines))))


def _tag(text: str) -> str:
    """Text that a message may hold: without halves of surrogates."""
    return text.encode('utf-8', 'replace').decode('utf-8')
