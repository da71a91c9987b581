"""The training loop."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
import typing as tp

from chainer import reporter as reporter_module
from chainer.serializer import AbstractSerializer, Serializer
from chainer.training import _random_states
from chainer.training import extension as extension_module
from chainer.training._interrupt import Interrupt
from chainer.training._output import show
from chainer.training._state import serialize_new, serialize_number
from chainer.training._trigger import get_trigger

if tp.TYPE_CHECKING:
    from chainer._typing import Observation, TriggerLike
    from chainer.training._updater import Updater


class _ExtensionEntry:
    """An extension, and how this trainer calls it."""

    # Attributes of this package's extensions are looked up on those alone, because mocks have every
    # attribute.

    def __init__(
        self, extension: tp.Any, priority: int, trigger: tp.Any, call_before_training: bool
    ) -> None:
        self.extension = extension
        self.priority = priority
        self.trigger = trigger
        self.call_before_training = call_before_training

    @property
    def loads_trainer(self) -> bool:
        """Whether it may load a snapshot of the trainer when it is initialized."""
        return getattr(self.extension, 'autoload', False) is True

    @property
    def saves_trainer(self) -> bool:
        """Whether it takes a snapshot of the trainer after Ctrl-C."""
        return getattr(self.extension, 'saves_trainer', False) is True

    @property
    def watch_calls(self) -> tp.Any:
        """Return a method that replaces calls of other extensions; None if the extension has none.

        So observing other extensions costs nothing where no extension does it.
        """
        watches = hasattr(type(self.extension), '_watch_calls')
        return self.extension._watch_calls if watches else None

    def call(self, method: str, *args: tp.Any) -> None:
        """Calls a method of the extension, if it has it."""
        function = getattr(self.extension, method, None)
        if function is not None:
            function(*args)


class Trainer:
    """The training loop: updates until a trigger says stop, and calls extensions after each.

    In each iteration, reported values (`chainer.report`) go into a new `observation`. Then each
    extension whose trigger fires is called, those of high priority first.

    Args:
        updater (Updater): The updater that makes an iteration.
        stop_trigger: When to stop; any argument of `get_trigger`. None never stops.
        out (str): The folder that extensions write to.
        extensions (iterable): To be added, each as by `extend` without more arguments.

    Attributes:
        updater (Updater): As given.
        stop_trigger (callable): As a trigger.
        observation (dict): The values reported in the current iteration, by name.
        out (str): As given.
        reporter (Reporter): It knows the links of the optimizers by name.
    """

    def __init__(
        self,
        updater: Updater,
        stop_trigger: TriggerLike | None = None,
        out: str | os.PathLike[str] = 'result',
        extensions: tp.Iterable[tp.Any] | None = None,
    ) -> None:
        if not hasattr(updater, 'get_all_optimizers'):
            raise TypeError(
                f'Trainer: updater is a {type(updater).__name__}, expected an Updater such as '
                'StandardUpdater(iterator, optimizer)'
            )
        self.updater: tp.Any = updater
        self.stop_trigger = get_trigger(stop_trigger)
        self.observation: Observation = {}
        self.out = out
        self.reporter = reporter_module.Reporter()
        for name, optimizer in updater.get_all_optimizers().items():
            self.reporter.add_observer(name, optimizer.target)
            self.reporter.add_observers(name, optimizer.target.namedlinks(skipself=True))
        self._done = False
        self._extensions: dict[tp.Any, _ExtensionEntry] = {}
        self._start_at: float | None = None
        self._snapshot_elapsed_time = 0.0
        self._final_elapsed_time: float | None = None
        updater.connect_trainer(self)
        for extension in extensions or ():
            self.extend(extension)

    @property
    def elapsed_time(self) -> float:
        """Seconds of training so far, those before a snapshot that was loaded included.

        Raises:
            RuntimeError: Before `run`.
        """
        if self._done and self._final_elapsed_time is not None:
            return self._final_elapsed_time
        if self._start_at is None:
            raise RuntimeError('training has not been started yet')
        return time.perf_counter() - self._start_at + self._snapshot_elapsed_time

    @property
    def is_before_training(self) -> bool:
        """Whether no update was made yet, nor before a snapshot that was loaded."""
        return self.updater.iteration == 0

    def extend(
        self,
        extension: tp.Any,
        name: tp.Hashable = None,
        trigger: TriggerLike | None = None,
        priority: int | None = None,
        *,
        call_before_training: bool = False,
        **kwargs: object,
    ) -> None:
        """Adds an extension.

        Args:
            extension (callable): It takes a trainer; an `Extension` or anything else.
            name (str): Default: its ``name``, its ``default_name``, or the name of the function. A
                name that is taken gets ``_1``, ``_2``, ... after it. One that is no str is kept;
                snapshots have its str.
            trigger: When it is called; default: its ``trigger``, else each iteration. Any argument
                of `get_trigger`.
            priority (int): Default: its ``priority``, else `PRIORITY_READER`.
            call_before_training (bool): Whether it is also called once before the first update.
            **kwargs: None is known.

        Raises:
            ValueError: For the name ``'training'``.
            TypeError: If it is no callable, or no name is to be had.
        """
        extension_module.refuse('Trainer.extend', kwargs)
        for attribute in ('name', 'default_name', '__name__'):
            name = getattr(extension, attribute, None) if name is None else name
        if name is None or name == '':
            raise TypeError(f'name is not given for the extension {extension!r}')
        if name == 'training':
            raise ValueError('the name "training" is prohibited as an extension name')
        if not callable(extension):
            raise TypeError(f'Trainer.extend: {extension!r} cannot be called')
        if trigger is None:
            trigger = getattr(extension, 'trigger', None) or (1, 'iteration')
        if priority is None:
            priority = getattr(extension, 'priority', None)
        if priority is None:
            priority = extension_module.PRIORITY_READER
        entry = _ExtensionEntry(extension, priority, get_trigger(trigger), call_before_training)

        unique: tp.Any = name
        count = 0
        while unique in self._extensions:
            count += 1
            unique = f'{name}_{count}'
        with contextlib.suppress(AttributeError):  # bound methods take no attributes
            extension.name = unique
        self._extensions[unique] = entry

    def get_extension(self, name: tp.Hashable) -> tp.Any:
        """An extension by its name.

        Args:
            name (str): As `extend` gave it.

        Returns:
            The extension itself.

        Raises:
            ValueError: If there is none of that name.
        """
        if name in self._extensions:
            return self._extensions[name].extension
        names = ', '.join(map(str, self._extensions)) or 'none'
        raise ValueError(f'extension {name} not found; there are: {names}')

    def run(self, show_loop_exception_msg: bool = True) -> None:
        """Trains until the stop trigger fires.

        When an iteration raises, ``on_error`` of the extensions is called; in any case they and the
        updater are finalized. Ctrl-C, if there is a snapshot of the trainer among the extensions,
        lets the iteration end and takes that snapshot first; a second one stops at once.

        Args:
            show_loop_exception_msg (bool): Whether an exception is also printed, before anything is
                finalized.

        Raises:
            RuntimeError: If it has run to its end before.
            OSError: If the folder ``out`` can't be made or written to.
            KeyboardInterrupt: After Ctrl-C.
        """
        if self._done:
            raise RuntimeError('cannot run training loop multiple times')
        self._make_out()
        entries = sorted(self._extensions.values(), key=lambda e: e.priority, reverse=True)
        savers = [entry.extension for entry in entries if entry.saves_trainer]
        if self._final_elapsed_time is not None:  # it has been interrupted or has failed
            self._snapshot_elapsed_time = self._final_elapsed_time
        try:
            self._start_at = time.perf_counter()
            # Loading a snapshot precedes changes of the state by other extensions.
            for entry in sorted(entries, key=lambda entry: not entry.loads_trainer):
                if not getattr(entry.trigger, 'finished', False):
                    entry.call('initialize', self)
            self._call_before_training(entries)
            with Interrupt(bool(savers)) as interrupt:
                self._loop(entries, interrupt)
                if interrupt.requested:
                    for extension in savers:
                        extension.on_interrupt(self)
                    raise KeyboardInterrupt
        except Exception as error:
            self._on_error(entries, error, show_loop_exception_msg)
            raise
        finally:
            self._final_elapsed_time = self.elapsed_time
            self._finalize(entries)
        self._final_elapsed_time = self.elapsed_time
        self._done = True

    def _call_before_training(self, entries: list[_ExtensionEntry]) -> None:
        first = [entry for entry in entries if entry.call_before_training]
        if not first:
            return
        loaded, self.observation = self.observation, {}
        with self.reporter.scope(self.observation):
            for entry in first:
                entry.extension(self)
        self.observation = loaded or self.observation

    def _loop(self, entries: list[_ExtensionEntry], interrupt: Interrupt) -> None:
        stop_trigger, reporter = self.stop_trigger, self.reporter
        calls = [(entry.trigger, entry.extension) for entry in entries]
        for entry in entries:
            if (watch := entry.watch_calls) is not None:
                calls = watch(calls)
        # After Ctrl-C the stop trigger is not asked: it is when training goes on.
        while not interrupt.requested and not stop_trigger(self):
            self.observation = {}
            # Reads the attribute each time, because extensions may put another updater in place.
            with reporter.scope(self.observation):
                self.updater.update()
                for trigger, extension in calls:
                    if trigger(self):
                        extension(self)

    def _make_out(self) -> None:
        try:
            os.makedirs(self.out, exist_ok=True)
            if not os.access(self.out, os.W_OK | os.X_OK):
                raise PermissionError('it cannot be written to')
        except OSError as error:
            text = error.strerror or str(error)
            raise type(error)(
                f'Trainer.run: out={os.fspath(self.out)!r} is no folder to write results to: {text}'
            ) from error

    def _on_error(
        self, entries: list[_ExtensionEntry], error: Exception, show_message: bool
    ) -> None:
        if show_message:
            try:
                said = str(error)
            except Exception:  # an exception class of the user's; its handlers run anyway
                said = f'{type(error).__name__}, whose message cannot be had'
            text = ''.join(traceback.format_tb(error.__traceback__))
            show(
                sys.stderr,
                f'Exception in main training loop: {said}\nTraceback (most recent call last):\n'
                f'{text}Will finalize trainer extensions and updater before reraising the '
                'exception.\n',
            )
        for entry in entries:
            try:
                entry.call('on_error', self, error, error.__traceback__)
            except Exception as other:  # the first error is the one to raise
                error.add_note(f'on_error of {_name_of(entry)} failed, too: {other!r}')

    def _finalize(self, entries: list[_ExtensionEntry]) -> None:
        """Finalizes all, also when one of them fails, and then raises that."""
        failure: BaseException | None = None
        for owner in (*(entry.extension for entry in entries), self.updater):
            try:
                finalize = getattr(owner, 'finalize', None)
                if finalize is not None:
                    finalize()
            except BaseException as error:
                if failure is None:
                    failure = error
                else:
                    failure.add_note(f'finalizing failed, too: {error!r}')
        if failure is None:
            return
        running = sys.exc_info()[1]
        if running is None:
            raise failure
        running.add_note(f'finalizing failed, too: {failure!r}')

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the updater, triggers, extensions, and the states of random generators.

        Those are the global ones of NumPy, of chainerx and of Python. They come last: they are set
        when all else could be loaded.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        self.updater.serialize(serializer['updater'])
        if hasattr(self.stop_trigger, 'serialize'):
            self.stop_trigger.serialize(serializer['stop_trigger'])
        extensions, triggers = serializer['extensions'], serializer['extension_triggers']
        for name, entry in self._extensions.items():
            if hasattr(entry.extension, 'serialize'):
                entry.extension.serialize(extensions[str(name)])
            if hasattr(entry.trigger, 'serialize'):
                entry.trigger.serialize(triggers[str(name)])
        # The stop trigger is asked about the last iteration when training goes on.
        observed = reporter_module.DictSummary()
        if isinstance(serializer, Serializer):
            observed.add(self.observation)
        serialize_new(serializer, 'observation', observed)
        if isinstance(serializer, Serializer):
            started = self._start_at is not None
            serializer('_snapshot_elapsed_time', self.elapsed_time if started else 0.0)
        else:
            self.observation = observed.compute_mean()
            self._final_elapsed_time = None
            self._snapshot_elapsed_time = (
                serialize_number(serializer, '_snapshot_elapsed_time', 0.0) or 0.0
            )
        _random_states.serialize(serializer['random_states'])


def _name_of(entry: _ExtensionEntry) -> str:
    return getattr(entry.extension, 'name', None) or repr(entry.extension)
