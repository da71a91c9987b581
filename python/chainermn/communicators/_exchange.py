"""Objects and memory among all processes of a communicator of MPI.

No operation blocks within MPI: whoever waits lets others run, hears Ctrl-C, and says where it waits
(`_mpi.wait`). Libraries differ in what their own waits do of that.
"""

from __future__ import annotations

import pickle
import typing as tp

import numpy as np

from chainermn.communicators import _mpi

_TAG: tp.Final = 0  # of the messages of all operations, whose order is the same in all processes


class Exchange:
    """Operations that all processes call. Roots are ranks that all agree on.

    Args:
        comm: The communicator of mpi4py, which nobody else sends messages through.
        mpi: The module ``mpi4py.MPI``.

    Attributes:
        comm: As given.
        rank (int): The number of this process.
        size (int): The number of processes.
        operation (str): On whose behalf messages are sent, for reports of waiting.
    """

    def __init__(self, comm: tp.Any, mpi: tp.Any) -> None:
        self.comm = comm
        self.rank: int = comm.rank
        self.size: int = comm.size
        self.operation = 'create_communicator'
        self._mpi = mpi

    def others(self) -> tp.Iterator[int]:
        """The ranks of all other processes."""
        return (rank for rank in range(self.size) if rank != self.rank)

    def wait(self, requests: tp.Sequence[tp.Any]) -> None:
        """Waits until all requests are done."""
        waiting = list(requests)
        what = f'{self.operation} for all processes'
        _mpi.wait(lambda: self._mpi.Request.Testall(waiting), self.comm, what)

    # ---- memory ----

    def start_send(self, part: np.ndarray, dest: int) -> list[tp.Any]:
        """The requests of messages with all bytes of an array."""
        return [self.comm.Isend(part[i], dest, _TAG) for i in _mpi.chunks(part.size)]

    def start_recv(self, part: np.ndarray, source: int) -> list[tp.Any]:
        """The requests of messages that fill the bytes of an array."""
        return [self.comm.Irecv(part[i], source, _TAG) for i in _mpi.chunks(part.size)]

    def bcast_bytes(self, part: np.ndarray, root: int, longest: int | None = None) -> None:
        """Fills the bytes of an array with those of the root, ``longest`` at once."""
        for i in _mpi.chunks(part.size, longest):
            self.wait([self.comm.Ibcast(part[i], root)])

    def allgather_bytes(self, own: np.ndarray, parts: list[np.ndarray]) -> None:
        """Fills arrays of bytes with those of all ranks."""
        counts = [part.size for part in parts]
        if sum(counts) > _mpi.MAX_BYTES:
            parts[self.rank][...] = own
            for rank, part in enumerate(parts):
                self.bcast_bytes(part, rank)
            return
        together = np.empty(sum(counts), np.uint8)
        self.wait([self.comm.Iallgatherv(own, [together, counts])])
        begin = 0
        for part in parts:
            part[...] = together[begin : begin + part.size]
            begin += part.size

    def allreduce(self, flat: np.ndarray, op: tp.Any) -> None:
        """Combines arrays of one dimension of all processes, each of which gets the result."""
        for i in _mpi.chunks(flat.size, _mpi.MAX_BYTES // flat.itemsize):
            self.wait([self.comm.Iallreduce(self._mpi.IN_PLACE, flat[i], op)])

    # ---- objects ----

    def bcast(self, obj: tp.Any, root: int) -> tp.Any:
        """The object of the root."""
        part = _pickled(obj if self.rank == root else None)
        length = np.array(part.size, np.int64)
        self.wait([self.comm.Ibcast(length, root)])
        if self.rank != root:
            part = np.empty(length, np.uint8)
        self.bcast_bytes(part, root)
        return obj if self.rank == root else _loaded(part)

    def allgather(self, obj: tp.Any) -> list[tp.Any]:
        """The objects of all, by rank."""
        own = _pickled(obj)
        lengths = np.full(self.size, own.size, np.int64)
        self.wait([self.comm.Iallgather(self._mpi.IN_PLACE, lengths)])
        parts = [np.empty(n, np.uint8) for n in lengths]
        self.allgather_bytes(own, parts)
        return [obj if rank == self.rank else _loaded(part) for rank, part in enumerate(parts)]

    def gather(self, obj: tp.Any, root: int) -> tp.Any:
        """A list of the objects of all, by rank, in the root; elsewhere None."""
        own = _pickled(obj)
        lengths = np.empty(self.size, np.int64)
        self.wait([self.comm.Igather(np.array(own.size, np.int64), lengths, root)])
        if self.rank != root:
            self.wait(self.start_send(own, root))
            return None
        return self._receive_objects(obj, lengths, [])

    def alltoall(self, objs: tp.Sequence[tp.Any]) -> list[tp.Any]:
        """The objects that all have for this process, by rank."""
        parts = [_pickled(obj) for obj in objs]
        theirs = np.empty(self.size, np.int64)
        lengths = np.array([part.size for part in parts], np.int64)
        self.wait([self.comm.Ialltoall(lengths, theirs)])
        requests = [r for rank in self.others() for r in self.start_send(parts[rank], rank)]
        return self._receive_objects(objs[self.rank], theirs, requests)

    def scatter(self, objs: tp.Sequence[tp.Any] | None, root: int) -> tp.Any:
        """The object that the root has for this process; only its objects count."""
        own = list(objs or ()) if self.rank == root else []
        parts = [_pickled(obj) for obj in own]
        lengths = np.array([part.size for part in parts], np.int64)
        length = np.empty((), np.int64)
        self.wait([self.comm.Iscatter(lengths, length, root)])
        if self.rank != root:
            part = np.empty(length, np.uint8)
            self.wait(self.start_recv(part, root))
            return _loaded(part)
        self.wait([r for rank in self.others() for r in self.start_send(parts[rank], rank)])
        return own[root]

    def _receive_objects(
        self, own: tp.Any, lengths: np.ndarray, requests: list[tp.Any]
    ) -> list[tp.Any]:
        """Receives an object of each other process, and waits for ``requests``, too."""
        parts = {rank: np.empty(lengths[rank], np.uint8) for rank in self.others()}
        for rank, part in parts.items():
            requests = requests + self.start_recv(part, rank)
        self.wait(requests)
        return [own if rank == self.rank else _loaded(parts[rank]) for rank in range(self.size)]


def _pickled(obj: tp.Any) -> np.ndarray:
    return np.frombuffer(pickle.dumps(obj, 5), np.uint8)


def _loaded(part: np.ndarray) -> tp.Any:
    return pickle.loads(part.data)
