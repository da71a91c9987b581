"""`create_multi_node_checkpointer`."""

from __future__ import annotations

import os
import re
import time
import typing as tp
import warnings

import numpy as np
from chainer import serializers
from chainer.serializers import npz
from chainer.training import extension
from chainerx._files import remove_leftovers

if tp.TYPE_CHECKING:
    from chainer._typing import Serializable
    from chainer.training.trainer import Trainer

    from chainermn.communicators.communicator_base import CommunicatorBase


def create_multi_node_checkpointer(
    name: str,
    comm: CommunicatorBase,
    cp_interval: int = 5,
    gc_interval: int = 5,
    path: str | os.PathLike[str] | None = None,
) -> _MultiNodeCheckpointer:
    """Makes an extension that saves in each process, and resumes where all have saved.

    Unlike snapshots, it is for states that differ among processes, on machines that share no disk.
    After a failure of any process, `maybe_load` in all of them finds the newest iteration of which
    each process has its file.

    Args:
        name (str): Of the training; files have it in front.
        comm (CommunicatorBase): Connects the processes, which must all have the extension.
        cp_interval (int): How many iterations that all have saved are kept.
        gc_interval (int): After how many times of saving older files are removed.
        path (str): The folder; default: that of the trainer.

    Returns:
        Extension: The extension; it saves after each epoch by default.

    Raises:
        ValueError: If an interval is less than 1, or the name has a slash in it.
    """
    for key, value in (('cp_interval', cp_interval), ('gc_interval', gc_interval)):
        if value < 1:
            raise ValueError(
                f'create_multi_node_checkpointer: {key} must be at least 1, not {value}'
            )
    if os.sep in name or not name:
        raise ValueError(
            f'create_multi_node_checkpointer: name is {name!r}, expected a part of the name of a '
            'file'
        )
    return _MultiNodeCheckpointer(name, comm, cp_interval, gc_interval, path)


# A key that no object has: the run that saved. A process that was killed leaves files that others
# may not have; the next run saves the same iterations again, and may be killed in turn.
_RUN: tp.Final = '/run'


class _MultiNodeCheckpointer(extension.Extension):
    """Saves in each process."""

    trigger = (1, 'epoch')
    priority = -100

    def __init__(
        self,
        name: str,
        comm: CommunicatorBase,
        cp_interval: int,
        gc_interval: int,
        path: str | os.PathLike[str] | None,
    ) -> None:
        self.checkpoint_name = name
        self.comm = comm
        self.cp_interval = cp_interval
        self.gc_interval = gc_interval
        self.path = None if path is None else os.fspath(path)
        self._run = ''  # since `maybe_load`
        self._count = 0
        self._stats: list[dict[str, float]] = []

    def _file(self, iteration: int | str) -> str:
        rank, size = self.comm.rank, self.comm.size
        return f'{self.checkpoint_name}_iter_{iteration}_rank_{rank}_of_{size}'

    def _folder(self, path: object = None, trainer: tp.Any = None) -> str:
        folder = path or self.path or getattr(trainer, 'out', None)
        if folder is None:
            raise ValueError(
                'checkpointer: path is None, and there is no trainer whose folder could be taken'
            )
        return os.fspath(tp.cast(str, folder))

    def _iterations(self, folder: str) -> set[int]:
        """The iterations whose files of this process are there."""
        pattern = re.compile(re.escape(self._file('@')).replace('@', r'(\d+)'))
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return {int(match[1]) for match in map(pattern.fullmatch, names) if match}

    def __call__(self, trainer: Trainer) -> None:
        """Saves the trainer.

        Args:
            trainer (Trainer): The caller.
        """
        self.path = self._folder(trainer=trainer)
        self.save(trainer, trainer.updater.iteration)

    def save(self, target: Serializable, iteration: int) -> None:
        """Saves in each process, and removes older files where it is time.

        Args:
            target: Has a method ``serialize``.
            iteration (int): The number of the iteration; the same in all processes.

        Raises:
            ValueError: If no folder is known.
        """
        folder = self._folder(trainer=target)
        self.path = folder
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, self._file(iteration))
        start = time.perf_counter()
        values: tp.Any = npz.serialize(target) | {_RUN: np.array(self._run)}
        serializers.save_npz(path, values)
        seconds = time.perf_counter() - start
        self._stats.append(
            {'iteration': iteration, 'seconds': seconds, 'bytes': os.path.getsize(path)}
        )
        self._count += 1
        if self._count % self.gc_interval == 0:
            self._remove_old_files(folder)

    def _common(self, folder: str) -> list[int]:
        """The iterations that all processes have saved, in ascending order."""
        everyone = self.comm.allreduce_obj([self._iterations(folder)])
        return sorted(set.intersection(*everyone))

    def _loadable(self, folder: str) -> list[int]:
        """Those that one run has saved in all processes, or that can't be read in some."""
        runs = {i: _run_of(os.path.join(folder, self._file(i))) for i in self._common(folder)}
        everyone = self.comm.allreduce_obj([runs])
        return [i for i in runs if len({one[i] for one in everyone} - {None}) < 2]

    def _remove_old_files(self, folder: str) -> None:
        kept = self._common(folder)[-self.cp_interval :]
        # Newer ones that others do not have yet may become common.
        for iteration in self._iterations(folder):
            if kept and iteration < kept[0]:
                os.remove(os.path.join(folder, self._file(iteration)))
        remove_leftovers(folder)  # of processes that were killed while they wrote

    def maybe_load(
        self,
        trainer: Serializable,
        optimizer: tp.Any = None,
        path: str | os.PathLike[str] | None = None,
    ) -> int | None:
        """Loads the newest iteration that all processes have saved, if there is one.

        All processes must call it. Where a file is damaged, all take the iteration before.

        Args:
            trainer: What was saved.
            optimizer: That of `create_multi_node_optimizer`: its parameters need not be sent again.
            path (str): The folder; default: that of the checkpointer, or of the trainer.

        Returns:
            int: The iteration; None if there is none.

        Raises:
            ValueError: If no folder is known.
            RuntimeError: If processes could load files, but no iteration all of them: they are in
                different states.
        """
        folder = self._folder(path, trainer)
        has_loaded: str | None = None
        self._run = self.comm.bcast_obj(os.urandom(8).hex())
        for iteration in reversed(self._loadable(folder)):
            failure = None
            try:
                serializers.load_npz(os.path.join(folder, self._file(iteration)), trainer)
            except Exception as error:
                failure = f'{type(error).__name__}: {error}'
            failures = self.comm.allreduce_obj([failure])
            if not any(failures):
                if hasattr(optimizer, '_consider_in_step'):
                    optimizer._consider_in_step()
                return iteration
            if None in failures:
                has_loaded = f'rank {failures.index(None)} has loaded iteration {iteration}'
            rank = next(i for i, text in enumerate(failures) if text)
            warnings.warn(
                f'maybe_load: iteration {iteration} cannot be loaded by rank {rank}, an older one '
                f'is tried: {failures[rank]}',
                stacklevel=2,
            )
        if has_loaded is not None:
            raise RuntimeError(
                f'maybe_load: no iteration can be loaded by all processes, and {has_loaded}, '
                f'which others have not; remove the files of {self.checkpoint_name!r} in {folder} '
                'to begin anew'
            )
        return None

    def get_stats(self) -> dict[str, tp.Any]:
        """How long saving took in this process.

        Returns:
            dict: ``count``; the sums ``seconds`` and ``bytes``; and ``saved``, a list of dicts with
            ``iteration``, ``seconds`` and ``bytes``.
        """
        return {
            'count': len(self._stats),
            'seconds': sum(one['seconds'] for one in self._stats),
            'bytes': sum(one['bytes'] for one in self._stats),
            'saved': list(self._stats),
        }

    def finalize(self) -> None:
        """Does nothing: checkpoints stay, and others may have failed, so nobody is asked."""


def _run_of(path: str) -> str | None:
    """The run that saved a file, '' if that is not in it; None if it can't be read."""
    try:
        with np.load(path) as file:
            return str(file[_RUN]) if _RUN in file else ''
    except Exception:  # which loading tells about
        return None
