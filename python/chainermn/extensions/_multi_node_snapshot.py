"""`multi_node_snapshot`."""

from __future__ import annotations

import os
import typing as tp

from chainer import serializers
from chainer.serializers import npz
from chainer.training import extension

if tp.TYPE_CHECKING:
    import types
    from collections.abc import Iterable

    from chainer.training.trainer import Trainer

    from chainermn.communicators.communicator_base import CommunicatorBase


def multi_node_snapshot(
    comm: CommunicatorBase,
    snapshot: tp.Any,
    replica_sets: Iterable[int | Iterable[int]],
) -> _MultiNodeSnapshot:
    """Makes an extension of `chainer.training.extensions.snapshot` save once for equal processes.

    Processes of a *replica set* have the same to save: the lowest rank of each set saves. With
    ``autoload`` it loads, too, and sends that to the others. The number of processes may differ
    from that of the run that saved, if each has as many examples.

    Often rank 0 has more extensions than all others: ``replica_sets=[0]``.

    Args:
        comm (CommunicatorBase): Connects the processes, which must all have the extension.
        snapshot (Extension): What saves; the names of its files get the number of the set in
            front.
        replica_sets (iterable): The sets, each a rank or an iterable of ranks. All ranks that are
            in none are the last set.

    Returns:
        Extension: The extension.

    Raises:
        ValueError: If a rank is in two sets, or does not exist.
    """
    sets = [[s] if isinstance(s, int) else sorted(s) for s in replica_sets]
    named = [rank for one in sets for rank in one]
    for rank in named:
        if not 0 <= rank < comm.size:
            raise ValueError(
                f'multi_node_snapshot: rank {rank} is in replica_sets, and there are {comm.size} '
                'processes'
            )
        if named.count(rank) > 1:
            raise ValueError(f'multi_node_snapshot: rank {rank} is in replica_sets twice')
    rest = [rank for rank in range(comm.size) if rank not in named]
    if rest:
        sets.append(rest)
    return _MultiNodeSnapshot(comm, snapshot, sets)


class _MultiNodeSnapshot(extension.Extension):
    """A snapshot that one process of each set saves."""

    def __init__(self, comm: CommunicatorBase, snapshot: tp.Any, sets: list[list[int]]) -> None:
        self.comm = comm
        self.snapshot = snapshot
        self._number = next(i for i, ranks in enumerate(sets) if comm.rank in ranks)
        self._set = comm.split(self._number, comm.rank)
        self.trigger = snapshot.trigger
        self.priority = snapshot.priority
        if callable(snapshot.filename):
            name = snapshot.filename
            snapshot.filename = lambda trainer: f'{self._number}_{name(trainer)}'
        else:
            head, slash, tail = snapshot.filename.rpartition('/')
            snapshot.filename = f'{head}{slash}{self._number}_{tail}'

    @property
    def is_master(self) -> bool:
        """Whether this process is the one of its set that saves."""
        return self._set.rank == 0

    def initialize(self, trainer: Trainer) -> None:
        """Loads the newest snapshot in one process of each set, and sends it to the others.

        Args:
            trainer (Trainer): The caller.
        """
        target = trainer if self.snapshot._target is None else self.snapshot._target
        values = None
        if self.is_master:
            finds = self.snapshot.autoload and self.snapshot._find_files(os.fspath(trainer.out))
            self.snapshot.initialize(trainer)
            values = npz.serialize(target) if finds else None
        values = self._set.bcast_obj(values)
        if values is not None and not self.is_master:
            serializers.NpzDeserializer(values).load(target)

    def __call__(self, trainer: Trainer) -> None:
        """Saves, in one process of each set.

        Args:
            trainer (Trainer): The caller.
        """
        if self.is_master:
            self.snapshot(trainer)

    def on_error(self, trainer: Trainer, exc: Exception, tb: types.TracebackType | None) -> None:
        """As that of the snapshot.

        Args:
            trainer (Trainer): The caller.
            exc (Exception): The exception.
            tb (traceback): Its traceback.
        """
        if self.is_master:
            self.snapshot.on_error(trainer, exc, tb)

    def finalize(self) -> None:
        """Waits until all is written."""
        self.snapshot.finalize()
