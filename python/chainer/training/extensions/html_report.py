"""A page about a training, in one file."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
import typing as tp
import warnings

from chainer.training import extension
from chainer.training.extensions._files import write_text
from chainer.training.extensions._log_reader import find_log

if tp.TYPE_CHECKING:
    import types

    from chainer.training._report.facts import Run, Timing
    from chainer.training.extensions.log_report import LogReport
    from chainer.training.trainer import Trainer

# The first iterations fill caches that later ones use.
_WARM_UP: tp.Final = 5


class HTMLReport(extension.Extension):
    """Writes a page of HTML about the training: curves, parameters, times, environment, files.

    It is one file that fetches nothing and has no script; it may be sent by mail. Its values are
    the entries of a `LogReport`. It is replaced as a whole each time the extension is called, by
    default after each epoch, and when training ends, also by an exception or Ctrl-C. A page that
    can't be written is a warning; training goes on. ``chainer report`` makes such a page of a
    training that has ended.

    Args:
        filename (str): Name of the file in the trainer's folder.
        log_report (str or LogReport): The extension whose entries are shown, or its name; it is in
            the trainer.
        title (str): Headline of the page; default: the trainer's folder.
        parameters (bool): Whether there are statistics of all parameters, which takes a pass over
            them each time.
        environment (bool): Whether the page has the command line, the git commit and what
            `chainerx.show_config` shows.
        profile (int): In how many iterations kernels are profiled, after a few to warm up; 0 for
            none.

    Raises:
        ValueError: If ``profile`` is negative.
    """

    trigger = (1, 'epoch')
    # After snapshots, so that the page has them.
    priority = -200

    def __init__(
        self,
        filename: str = 'report.html',
        log_report: str | LogReport = 'LogReport',
        title: str | None = None,
        parameters: bool = True,
        environment: bool = True,
        profile: int = 0,
    ) -> None:
        if profile < 0:
            raise ValueError(f'HTMLReport: profile must not be negative, but is {profile}')
        self._filename = filename
        self._log_report = log_report
        self._title = title
        self._parameters = parameters
        self._environment = environment
        self._profile = profile
        self._profile_text = ''
        self._profiling = contextlib.ExitStack()
        self._trainer: Trainer | None = None
        self._facts: list[tuple[str, str]] = []
        self._timings: list[Timing] = []
        self._started: tuple[float, int] | None = None
        self._failure: tuple[Exception, types.TracebackType | None] | None = None
        self._handled: BaseException | None = None

    def initialize(self, trainer: Trainer) -> None:
        """Looks for the log, and at the environment.

        Args:
            trainer (Trainer): The caller.
        """
        from chainer.training._report import facts

        find_log(trainer, self._log_report, 'HTMLReport')
        self._trainer = trainer
        self._facts = facts.environment() if self._environment else []
        self._failure = None
        # An exception that the program was already handling did not end the training.
        self._handled = sys.exc_info()[1]

    def __call__(self, trainer: Trainer) -> None:
        """Writes the page.

        Args:
            trainer (Trainer): The caller.
        """
        self._write(trainer, 'running', '')

    def on_error(self, trainer: Trainer, exc: Exception, tb: types.TracebackType | None) -> None:
        """Keeps the exception for the page.

        Args:
            trainer (Trainer): The caller.
            exc (Exception): The exception.
            tb (traceback): Its traceback.
        """
        self._failure = exc, tb

    def finalize(self) -> None:
        """Writes the page for the last time, with how training ended."""
        self._profiling.close()
        trainer, self._trainer = self._trainer, None
        if trainer is None:  # it was never initialized
            return
        status, detail = 'finished', ''
        running = sys.exc_info()[1]
        if self._failure is not None:
            exc, tb = self._failure
            status, detail = 'failed', ''.join(traceback.format_exception(type(exc), exc, tb))
        elif running is not None and running is not self._handled:
            status = 'interrupted' if isinstance(running, KeyboardInterrupt) else 'failed'
            detail = '' if status == 'interrupted' else repr(running)
        self._write(trainer, status, detail)
        self._failure = self._handled = None

    def _write(self, trainer: Trainer, status: str, detail: str) -> None:
        from chainer.training._report import page

        text = page.make(self._take(trainer, status, detail), 'chainer.training HTMLReport')
        path = os.path.join(trainer.out, self._filename)
        try:
            write_text(path, text)
        except OSError as error:
            # The page can be made again; its failure must not end a training of days.
            warnings.warn(f'HTMLReport: {path} cannot be written: {error}', stacklevel=2)

    def _take(self, trainer: Trainer, status: str, detail: str) -> Run:
        from chainer.training._report import facts

        out = os.fspath(trainer.out)
        return facts.Run(
            title=self._title or os.path.basename(os.path.abspath(out)),
            log=find_log(trainer, self._log_report, 'HTMLReport').log,
            status=status,
            detail=detail,
            facts=self._facts,
            parameters=facts.parameters_of(trainer) if self._parameters else [],
            timings=self._all_timings(trainer),
            files=facts.files_in(out, but=self._filename),
            profile=self._profile_text,
        )

    def _all_timings(self, trainer: Trainer) -> list[Timing]:
        from chainer.training._report.facts import Timing

        if self._started is None:
            return []
        start, first = self._started
        rest = time.perf_counter() - start - sum(timing.seconds for timing in self._timings)
        count = trainer.updater.iteration - first
        updates = Timing('updates (data, forward, backward, step)', count, max(rest, 0.0))
        return [updates, *sorted(self._timings, key=lambda timing: -timing.seconds)]

    def _watch_calls(self, calls: list[tuple[tp.Any, tp.Any]]) -> list[tuple[tp.Any, tp.Any]]:
        """Wraps the extensions of a trainer with a clock."""
        trainer = tp.cast('Trainer', self._trainer)
        self._timings.clear()
        self._started = time.perf_counter(), trainer.updater.iteration
        calls = [(trigger, self._timed(call)) for trigger, call in calls]
        if self._profile:
            calls.insert(0, (lambda trainer: True, self._step_profile))
        return calls

    def _timed(self, call: tp.Any) -> tp.Any:
        from chainer.training._report.facts import Timing

        name = getattr(call, 'name', None) or getattr(call, '__name__', type(call).__name__)
        timing = Timing(str(name), 0, 0.0)
        self._timings.append(timing)
        clock = time.perf_counter

        def timed_call(trainer: Trainer) -> None:
            start = clock()
            call(trainer)
            timing.seconds += clock() - start
            timing.calls += 1

        return timed_call

    def _step_profile(self, trainer: Trainer) -> None:
        import chainerx

        _, first = tp.cast('tuple[float, int]', self._started)
        count = trainer.updater.iteration - first
        if count == _WARM_UP:
            profile = self._profiling.enter_context(chainerx.profile())
            self._profiling.callback(self._keep_profile, profile)
        elif count == _WARM_UP + self._profile:
            self._profiling.close()

    def _keep_profile(self, profile: object) -> None:
        self._profile_text = str(profile)
