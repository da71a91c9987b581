"""What a process of `MultiprocessIterator` does: examples of its copy of the dataset, by index."""

from __future__ import annotations

import os
import pickle
import random
import signal
import sys
import traceback
import typing as tp
from multiprocessing import shared_memory

import numpy as np

# Smaller arrays travel with the message that tells of them.
_LEAST_SHARED: tp.Final = 1 << 14


class Task(tp.NamedTuple):
    """Some examples of a minibatch.

    Attributes:
        number (int): Of the task, in the order in which they were given.
        slot (int): Whose memory the answer may use.
        indices (list of int): Which examples.
        seed (tuple of int): What random numbers begin with at the first of them; at the next one,
            the last number is one more.
    """

    number: int
    slot: int
    indices: list[int]
    seed: tuple[int, ...]


class Answer(tp.NamedTuple):
    """What became of a task.

    Attributes:
        number (int): Of the task.
        slot (int): Whose memory it uses.
        memory (str): The name of new memory of the slot; None for that which it had.
        sizes (list of int): Of the buffers that stand in the memory; None if they are in the
            message.
        data (bytes): The pickled examples, without their buffers; empty for an error.
        buffers (list of bytes): Those that are not in the memory.
        error: The exception; None if there was none.
        failed (int): The index of the example that raised it.
        text (str): How it came about.
    """

    number: int
    slot: int
    memory: str | None
    sizes: list[int] | None
    data: bytes
    buffers: list[bytes]
    error: tp.Any
    failed: int
    text: str


def align(n: int) -> int:
    """Where the next buffer begins, behind n bytes."""
    return (n + 63) // 64 * 64


def work(connection: tp.Any, others: list[tp.Any], dataset: tp.Any, most: int | None) -> None:
    """Answers tasks until the connection ends.

    Args:
        connection: To the iterator.
        others: Ends of pipes that a forked process has, and that would keep them open.
        dataset: Has examples by index.
        most (int): How many bytes of an example may be shared; None for any number.
    """
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
    dataset: tp.Any,
    task: Task,
    memories: dict[int, shared_memory.SharedMemory],
    most: int | None,
) -> Answer:
    examples = []
    for k, index in enumerate(task.indices):
        seed = *task.seed[:-1], task.seed[-1] + k
        np.random.seed(seed)
        random.seed(hash(seed))
        try:
            examples.append(dataset[index])
        except Exception as error:
            return _failure(task, int(index), error)
    try:
        return _pack(task, examples, memories, most)
    except Exception as error:  # such as an example that can't be pickled
        return _failure(task, int(task.indices[0]), error)


def _failure(task: Task, index: int, error: Exception) -> Answer:
    text = ''.join(traceback.format_exception(*sys.exc_info()))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever the user's exception does there: what it says arrives
        error = RuntimeError(f'{type(error).__name__}: {error}')
    return Answer(task.number, task.slot, None, None, b'', [], error, index, text)


def _pack(
    task: Task,
    examples: list[tp.Any],
    memories: dict[int, shared_memory.SharedMemory],
    most: int | None,
) -> Answer:
    pickles: list[pickle.PickleBuffer] = []
    data = pickle.dumps(examples, protocol=5, buffer_callback=pickles.append)
    buffers = [buffer.raw() for buffer in pickles]
    total = sum(align(buffer.nbytes) for buffer in buffers)
    may_share = total >= _LEAST_SHARED and (most is None or total <= most * len(examples))
    memory, name = memories.get(task.slot), None
    if may_share and (memory is None or memory.size < total):
        # Some more than is needed: the next ones may be a little larger.
        new = _new_memory(total * 5 // 4)
        may_share = new is not None
        if new is not None:
            if memory is not None:
                memory.close()
            memory = memories[task.slot] = new
            name = memory.name
    if memory is None or not may_share:
        inline = [bytes(buffer) for buffer in buffers]
        return Answer(task.number, task.slot, None, None, data, inline, None, -1, '')
    shared: tp.Any = memory.buf
    at = 0
    for buffer in buffers:
        shared[at : at + buffer.nbytes] = buffer
        at = align(at + buffer.nbytes)
    sizes = [buffer.nbytes for buffer in buffers]
    return Answer(task.number, task.slot, name, sizes, data, [], None, -1, '')


def _new_memory(size: int) -> shared_memory.SharedMemory | None:
    """Shared memory; None if the system has none left, as in containers with little of it."""
    try:
        memory = shared_memory.SharedMemory(create=True, size=size)
    except OSError:
        return None
    try:
        # Else what is not there would end the process when it is written to.
        os.posix_fallocate(memory._fd, 0, size)  # type: ignore[attr-defined]
    except AttributeError:
        pass  # no such call on this system
    except OSError:
        memory.close()
        memory.unlink()
        return None
    return memory
