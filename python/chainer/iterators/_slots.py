"""Memory that `MultiprocessIterator` shares with one of its processes."""

from __future__ import annotations

import itertools
import os
import signal
import typing as tp
import weakref
from multiprocessing import shared_memory

import numpy as np

from chainer.dataset._blocks import Block


def align(n: int) -> int:
    """Where the next buffer begins, behind n bytes.

    No further than any dtype needs it, so that arrays of one shape lie as in one array.
    """
    return (n + 15) // 16 * 16


def new_memory(name: str, size: int) -> shared_memory.SharedMemory | None:
    """Shared memory; None if the system has none left, as in containers with little of it."""
    # One that ends in the middle would leave something that nobody clears up.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        return _new_memory(name, size)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _new_memory(name: str, size: int) -> shared_memory.SharedMemory | None:
    try:
        memory = shared_memory.SharedMemory(name, create=True, size=size)
    except OSError:
        return None
    try:
        # Without this, writing to memory that does not exist would end the process.
        os.posix_fallocate(memory._fd, 0, size)  # type: ignore[attr-defined]
    except AttributeError:
        pass  # no such call on this system
    except OSError:
        memory.close()
        memory.unlink()
        return None
    return memory


def remove_memory(name: str) -> None:
    """Removes the memory of a process that ended before it could report it."""
    try:
        memory = shared_memory.SharedMemory(name)
    except (OSError, ValueError):  # there is none, as nearly always
        return
    memory.close()
    memory.unlink()


class _Lease(Block):
    """The memory of a slot, as the base of arrays; it is free again when the last one is gone."""

    def __init__(
        self, slots: Slots, slot: int, memory: shared_memory.SharedMemory, n_bytes: int
    ) -> None:
        shared: tp.Any = memory.buf
        super().__init__(np.frombuffer(shared, np.uint8).__array_interface__['data'][0], n_bytes)
        self._slots = slots
        self._slot = slot
        self._memory = memory  # mapped as long as there are arrays in it

    def __del__(self) -> None:
        self._slots._take_back(self._slot, self._memory)


class Slots:
    """Pieces of memory: a process writes the arrays of an answer to one, and they stay there.

    A slot is given out with a task, and free again when the answer's arrays are gone.

    Args:
        most_lent (int): How many slots may have arrays in them; those of further answers are
            copied, for a program that keeps all examples is not to fill shared memory.
    """

    def __init__(self, most_lent: int) -> None:
        self._most_lent = most_lent
        self._numbers = itertools.count()
        self._free: list[int] = []
        self._lent: set[int] = set()
        self._memories: dict[int, shared_memory.SharedMemory] = {}
        _all.add(self)

    def take(self) -> tuple[int, bool]:
        """A slot in which nothing lies, and whether it has no memory."""
        slot = self._free.pop() if self._free else next(self._numbers)
        return slot, slot not in self._memories

    def give_back(self, slot: int) -> None:
        """Says that nothing lies in a slot."""
        self._free.append(slot)

    def replace(self, slot: int, name: str) -> None:
        """Maps another memory for a slot, which is freed when its last user unmaps it.

        Args:
            slot (int): Which; nothing lies in it.
            name (str): The name of the memory.
        """
        memory = shared_memory.SharedMemory(name=name)
        memory.unlink()
        self._memories[slot] = memory

    def read(self, slot: int, sizes: tp.Sequence[int]) -> list[np.ndarray]:
        """The buffers of these sizes that lie in a slot, which is free when they are gone.

        Args:
            slot (int): Which.
            sizes (list of int): How many bytes each has.
        """
        starts = [0]
        for size in sizes:
            starts.append(align(starts[-1] + size))
        memory = self._memories[slot]
        if len(self._lent) < self._most_lent:
            self._lent.add(slot)
            whole = np.asarray(_Lease(self, slot, memory, starts[-1]))
        else:
            shared: tp.Any = memory.buf
            whole = np.frombuffer(shared, np.uint8, starts[-1]).copy()
            self.give_back(slot)
        return [whole[i : i + n] for i, n in zip(starts, sizes, strict=False)]

    def _take_back(self, slot: int, memory: shared_memory.SharedMemory) -> None:
        if slot in self._lent and self._memories.get(slot) is memory:
            self._lent.discard(slot)
            self._free.append(slot)

    def _retire(self) -> None:
        """Keeps memory that arrays still use."""
        for slot in tuple(self._lent):
            self._lent.discard(slot)
            del self._memories[slot]
            self._free.append(slot)


_all: weakref.WeakSet[Slots] = weakref.WeakSet()


def _retire_all() -> None:
    for slots in tuple(_all):
        slots._retire()


# A child has the arrays, too, and may look at them when they are long gone here.
os.register_at_fork(before=_retire_all)
