"""The process of `MultiprocessIterator`: it reads examples of its copy of the dataset, by index."""

from __future__ import annotations

import pickle
import random
import signal
import sys
import traceback
import typing as tp
from multiprocessing import shared_memory

import numpy as np

from chainer.iterators import _slots
from chainer.iterators._epochs import get_example
from chainer.utils import _processes

if tp.TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from chainer._typing import Dataset, Example

# Smaller arrays travel with the message that tells of them.
_LEAST_SHARED: tp.Final = 1 << 13


class Task(tp.NamedTuple):
    """Some examples of a minibatch.

    Attributes:
        number (int): Of the task, in the order in which they were given.
        slot (int): Whose memory the answer may use.
        is_new (bool): Whether that is another one than it had, if it had one.
        memory (str): The name of new memory.
        indices (list of int): Which examples.
        seed (tuple of int): The random seed of the first of them; at the next one, the last number
            is one more.
    """

    number: int
    slot: int
    is_new: bool
    memory: str
    indices: list[int]
    seed: tuple[int, ...]


class Answer(tp.NamedTuple):
    """The result of a task.

    Attributes:
        number (int): Of the task.
        slot (int): Whose memory it uses.
        memory (str): The name of new memory of the slot; None for that which it had.
        examples (list of tuples): Of each the pickle without its large buffers, and their sizes;
            empty for an error.
        buffers (list of bytes): All large buffers; None if they stand in the memory, one behind
            the other.
        error: The exception; None if there was none.
        failed (int): The index of the example that raised it.
        text (str): How it came about.
    """

    number: int
    slot: int
    memory: str | None
    examples: list[tuple[bytes, list[int]]]
    buffers: list[bytes] | None
    error: tp.Any
    failed: int
    text: str


def work(
    connection: Connection,
    others: list[tp.Any],
    dataset: Dataset,
    most: int | None,
    by_main_thread: bool,
) -> None:
    """Answers tasks until the connection ends, or the program does.

    Args:
        connection: To the iterator.
        others: Ends of pipes that a forked process has, and that would keep them open.
        dataset: Has examples by index.
        most (int): How many bytes of an example may be shared; None for any number.
        by_main_thread (bool): Whether the program's main thread has started this process.
    """
    _processes.end_with_parent(by_main_thread)
    # Ctrl-C is for the program, which ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in others:
        other.close()
    memories: dict[int, shared_memory.SharedMemory] = {}
    try:
        while True:
            task = connection.recv()
            connection.send(_answer(dataset, task, memories, most))
    except (EOFError, OSError, KeyboardInterrupt):
        pass  # the iterator is gone
    finally:
        for memory in memories.values():
            memory.close()


def _answer(
    dataset: Dataset,
    task: Task,
    memories: dict[int, shared_memory.SharedMemory],
    most: int | None,
) -> Answer:
    packer = _Packer(task, memories, most)
    for k, index in enumerate(task.indices):
        seed = *task.seed[:-1], task.seed[-1] + k
        np.random.seed(seed)
        random.seed(hash(seed))
        try:
            packer.add(get_example(dataset, index))
        except Exception as error:  # also of an example that can't be pickled
            return _failure(task, int(index), error)
    return packer.answer()


def _failure(task: Task, index: int, error: Exception) -> Answer:
    text = ''.join(traceback.format_exception(*sys.exc_info()))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # the user's exception may do anything there; its message still arrives
        try:
            said = str(error)
        except Exception as other:
            said = f'its message cannot be had: {other!r}'
        error = RuntimeError(f'{type(error).__name__}: {said}')
    return Answer(task.number, task.slot, None, [], [], error, index, text)


class _Packer:
    """Packs each example as soon as it is read, because its memory is reused for the next one.

    Large buffers are written to the memory of the task's slot, one behind the other. Buffers that
    do not fit wait until their total size is known.
    """

    def __init__(
        self,
        task: Task,
        memories: dict[int, shared_memory.SharedMemory],
        most: int | None,
    ) -> None:
        if task.is_new and task.slot in memories:
            memories.pop(task.slot).close()
        self._task = task
        self._memories = memories
        self._memory = memories.get(task.slot)
        self._most = most
        self._examples: list[tuple[bytes, list[int]]] = []
        self._end = 0
        self._waiting: list[tuple[int, memoryview]] = []

    def add(self, example: Example) -> None:
        """Packs an example."""
        buffers: list[memoryview] = []

        def keep(buffer: pickle.PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes < _LEAST_SHARED:
                return True  # goes with the pickle
            buffers.append(raw)
            return False

        data = pickle.dumps(example, protocol=5, buffer_callback=keep)
        if self._most is not None and sum(raw.nbytes for raw in buffers) > self._most:
            data, buffers = pickle.dumps(example, protocol=5), []
        self._examples.append((data, [raw.nbytes for raw in buffers]))
        for raw in buffers:
            begin, end = self._end, self._end + raw.nbytes
            if self._memory is not None and end <= self._memory.size and not self._waiting:
                _write(self._memory, begin, raw)
            else:
                self._waiting.append((begin, raw))
            self._end = _slots.align(end)

    def answer(self) -> Answer:
        """The answer, when all examples are packed."""
        task, name, buffers = self._task, None, None
        if self._waiting:
            # Some more than is needed: the next ones may be a little larger.
            new = _slots.new_memory(task.memory, self._end * 5 // 4)
            if new is None:
                buffers = self._take_out()
            else:
                name = new.name
                self._move_to(new)
        return Answer(task.number, task.slot, name, self._examples, buffers, None, -1, '')

    def _move_to(self, new: shared_memory.SharedMemory) -> None:
        if self._memory is not None:
            old: tp.Any = self._memory.buf
            _write(new, 0, old[: self._waiting[0][0]])
            self._memory.close()
        for begin, raw in self._waiting:
            _write(new, begin, raw)
        self._memories[self._task.slot] = new

    def _take_out(self) -> list[bytes]:
        waiting = dict(self._waiting)
        old: tp.Any = None if self._memory is None else self._memory.buf
        buffers, at = [], 0
        for _, sizes in self._examples:
            for size in sizes:
                buffers.append(bytes(waiting[at] if at in waiting else old[at : at + size]))
                at = _slots.align(at + size)
        return buffers


def _write(memory: shared_memory.SharedMemory, begin: int, data: memoryview) -> None:
    shared: tp.Any = memory.buf
    shared[begin : begin + data.nbytes] = data
