"""Snapshots of a training, and how it resumes from one."""

from __future__ import annotations

import os
import re
import string
import typing as tp
import warnings

from chainerx._files import remove_leftovers

from chainer import serializers
from chainer.serializers import npz
from chainer.training import extension
from chainer.training.extensions import snapshot_writers

if tp.TYPE_CHECKING:
    import types

    from chainer._typing import Serializable
    from chainer.training.trainer import Trainer


def _always_true() -> bool:
    return True


def snapshot_object(
    target: Serializable,
    filename: str,
    savefun: snapshot_writers.SaveFunction | None = None,
    **kwargs: object,
) -> _Snapshot:
    """Makes an extension that saves an object, by default after each epoch.

    Args:
        target: Has a method ``serialize``: a model, for example.
        filename (str): Name of the file in the trainer's folder, as in `snapshot`.
        savefun (callable): Called with a path and the target; default:
            `chainer.serializers.save_npz`.
        **kwargs: ``condition``, ``writer``, ``snapshot_on_error``, ``n_retains``, ``autoload``, as
            in `snapshot`.

    Returns:
        Extension: The extension.
    """
    return snapshot(savefun, filename, target=target, **kwargs)


def snapshot(
    savefun: snapshot_writers.SaveFunction | None = None,
    filename: str = 'snapshot_iter_{.updater.iteration}',
    **kwargs: tp.Any,
) -> _Snapshot:
    """Makes an extension that saves the trainer with all that it holds, by default each epoch.

    A file appears under its name when it is complete and on the disk. A trainer that goes on from
    one (``autoload=True``, or `chainer.serializers.load_npz` before `Trainer.run`) ends with the
    same bits as if it had never stopped: models, optimizers, iterators, the log except for its
    times, and the global random generators of NumPy, chainerx and Python.

    Args:
        savefun (callable): Called with a path and the target; default:
            `chainer.serializers.save_npz`.
        filename (str): Name of the file in the trainer's folder; the trainer fills it in, by
            ``filename.format(trainer)``.
        **kwargs: ``target``: the object to save; default: the trainer. ``condition`` (callable):
            whether to save, asked without arguments. ``writer`` (Writer): how files are written, in
            place of ``savefun``. ``snapshot_on_error`` (bool): whether to save when an iteration
            raises. ``n_retains`` (int): how many of the newest files to keep, others of that name
            are removed; -1 and 0 keep all. ``autoload`` (bool): whether to load the newest file
            when training begins; one that is damaged is passed over with a warning. Temporary files
            of writers that were killed more than an hour ago are removed then.

    Returns:
        Extension: The extension.

    Raises:
        TypeError: If both ``savefun`` and ``writer`` are given, and for an unknown name.
        ValueError: If ``n_retains`` is less than -1.
    """
    target = kwargs.pop('target', None)
    condition = kwargs.pop('condition', None)
    writer = kwargs.pop('writer', None)
    on_error = kwargs.pop('snapshot_on_error', False)
    n_retains = kwargs.pop('n_retains', -1)
    autoload = kwargs.pop('autoload', False)
    extension.refuse('snapshot', kwargs)
    if savefun is not None and writer is not None:
        raise TypeError('savefun and writer arguments cannot be specified together.')
    if writer is None:
        writer = snapshot_writers.SimpleWriter(savefun=savefun or serializers.save_npz)
    return _Snapshot(
        target=target,
        condition=condition,
        writer=writer,
        filename=filename,
        snapshot_on_error=on_error,
        n_retains=n_retains,
        autoload=autoload,
    )


class _Snapshot(extension.Extension):
    """The extension that `snapshot` makes."""

    trigger = (1, 'epoch')
    priority = -100

    def __init__(
        self,
        target: Serializable | None = None,
        condition: tp.Callable[[], bool] | None = None,
        writer: tp.Any = None,
        filename: str = 'snapshot_iter_{.updater.iteration}',
        snapshot_on_error: bool = False,
        n_retains: int = -1,
        autoload: bool = False,
    ) -> None:
        if n_retains < -1:
            raise ValueError(
                f'snapshot: n_retains must be positive, or -1 or 0 to keep all, not {n_retains}'
            )
        self._target = target
        self.filename = filename
        self.condition = condition or _always_true
        self.writer = writer or snapshot_writers.SimpleWriter()
        self._snapshot_on_error = snapshot_on_error
        self.n_retains = n_retains
        self.autoload = autoload
        self._last_iteration: int | None = None
        self._out: str | None = None
        if n_retains > 0 and hasattr(self.writer, '_add_cleanup_hook'):
            self.writer._add_cleanup_hook(self._remove_old)

    @property
    def saves_trainer(self) -> bool:
        """Return whether training can resume from the files that it saves."""
        return self._target is None

    def initialize(self, trainer: Trainer) -> None:
        """Loads the newest snapshot, with ``autoload``.

        Args:
            trainer (Trainer): The caller.

        Raises:
            As `chainer.serializers.load`, if there are files, and none can be loaded.
        """
        self._out = os.fspath(trainer.out)
        target = trainer if self._target is None else self._target
        if not self.autoload:
            return
        remove_leftovers(self._folder(self._out))
        failure: Exception | None = None
        for path in self._find_files(self._out):
            try:
                serializers.load(path, target)
            except (OSError, KeyError, TypeError, ValueError) as error:
                failure = failure or error
                warnings.warn(
                    f'snapshot: {path} cannot be loaded, an older one is tried: {error}',
                    stacklevel=2,
                )
            else:
                return
        if failure is not None:
            failure.add_note(
                f'snapshot: none of the files in {self._out!r} can be loaded; to begin anew, '
                'remove them or take autoload=True away'
            )
            raise failure

    def __call__(self, trainer: Trainer) -> None:
        """Saves, if the condition says so.

        Args:
            trainer (Trainer): The caller.
        """
        if self.condition():
            self._make_snapshot(trainer)

    def on_interrupt(self, trainer: Trainer) -> None:
        """Saves the state at the end of the iteration in which Ctrl-C was pressed.

        Args:
            trainer (Trainer): The caller.
        """
        if self._last_iteration != trainer.updater.iteration:
            self(trainer)

    def on_error(self, trainer: Trainer, exc: Exception, tb: types.TracebackType | None) -> None:
        """Saves the current state, with ``snapshot_on_error``.

        Args:
            trainer (Trainer): The caller.
            exc (Exception): The exception.
            tb (traceback): Its traceback.
        """
        if self._snapshot_on_error:
            self._make_snapshot(trainer)

    def _make_snapshot(self, trainer: Trainer) -> None:
        target = trainer if self._target is None else self._target
        self._out = os.fspath(trainer.out)
        arrays = npz.serialize(target)
        filename = self.filename(trainer) if callable(self.filename) else self.filename
        self.writer(filename.format(trainer), self._out, _own(arrays, self.writer))
        self._last_iteration = trainer.updater.iteration

    def finalize(self) -> None:
        """Waits until all is written."""
        if hasattr(self.writer, 'finalize'):
            self.writer.finalize()

    def _remove_old(self) -> None:
        if self._out is None:
            return
        for path in self._find_files(self._out)[self.n_retains :]:
            os.unlink(path)

    def _folder(self, out: str) -> str:
        if callable(self.filename):
            raise ValueError('snapshot: autoload and n_retains need a filename that is a string')
        return os.path.join(out, os.path.dirname(self.filename))

    def _find_files(self, folder: str) -> list[str]:
        """Return the files that this extension wrote there, the newest first."""
        folder = self._folder(folder)
        pattern = _to_pattern(os.path.basename(self.filename))
        found = []
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            path = os.path.join(folder, name)
            if pattern.fullmatch(name) and os.path.isfile(path):
                numbers = tuple(int(n) for n in re.findall(r'\d+', name))
                # Files of the same tick of the clock: by their numbers, 10 after 9.
                found.append((os.stat(path).st_mtime_ns, numbers, path))
        return [path for *_, path in sorted(found, reverse=True)]


def _own(arrays: dict[str, tp.Any], writer: object) -> dict[str, tp.Any]:
    """Arrays that training does not write to while they are saved in the background."""
    if isinstance(writer, snapshot_writers.SimpleWriter):
        return arrays
    return {key: array.copy() for key, array in arrays.items()}


def _to_pattern(filename: str) -> re.Pattern[str]:
    """Return a pattern of the file names that a format makes."""
    pattern = ''
    for literal, field, spec, _ in string.Formatter().parse(filename):
        pattern += re.escape(literal)
        if field is not None:
            # The pattern is as narrow as possible, because others write to the folder, too, and
            # matching files are removed.
            name = field.rpartition('.')[2]
            if name in ('iteration', 'epoch') or (spec or '').endswith('d'):
                pattern += r' *\d+ *'
            elif name in ('epoch_detail', 'previous_epoch_detail', 'elapsed_time'):
                pattern += r' *\d+(?:\.\d*)?(?:e[+-]?\d+)?%? *'
            else:
                pattern += r'[^.].*?'
    return re.compile(pattern)
