"""An iterator whose examples are made by processes, ahead of use."""

from __future__ import annotations

import collections
import contextlib
import itertools
import multiprocessing
import multiprocessing.connection
import multiprocessing.util
import os
import pickle
import secrets
import typing as tp
import warnings
import zlib
from multiprocessing import resource_tracker

import numpy as np

from chainer.iterators import _worker
from chainer.iterators._epochs import EpochIterator, Place
from chainer.iterators._slots import Slots, remove_memory
from chainer.utils import _processes

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, Dataset, Example
    from chainer.serializer import AbstractSerializer

_MOST_INDICES: tp.Final = 512  # of a task, so that some of them fit into a pipe
_MOST_SENT: tp.Final = 4  # tasks in a pipe


class _Process:
    """A worker as its iterator sees it."""

    def __init__(
        self,
        number: int,
        dataset: Dataset,
        most: int | None,
        n_prefetch: int,
        siblings: list[tp.Any],
    ) -> None:
        context = multiprocessing.get_context()
        self.connection, end = context.Pipe()
        forks = context.get_start_method() == 'fork'
        others = [self.connection, *siblings] if forks else []
        self.process = _processes.started(
            context,
            'MultiprocessIterator pickles the dataset',
            target=_worker.work,
            args=(end, others, dataset, most, _processes.is_main_thread()),
            name=f'MultiprocessIterator-{number}',
            daemon=True,
        )
        end.close()
        self.name = f'chainer_{os.getpid()}_{secrets.token_hex(4)}'
        self.sent: dict[int, _worker.Task] = {}
        self.waiting: collections.deque[_worker.Task] = collections.deque()
        # Counts prefetched minibatches, the one in use, and one that is about to be freed.
        self.slots = Slots(n_prefetch + 2)
        self.n_made = 0

    def give(self, number: int, indices: list[int], seed: tuple[int, ...]) -> None:
        memory = f'{self.name}_{number}'
        self.waiting.append(_worker.Task(number, *self.slots.take(), memory, indices, seed))

    def has_any(self, numbers: set[int]) -> bool:
        """Whether some of these tasks are its."""
        return not numbers.isdisjoint(self.sent) or any(t.number in numbers for t in self.waiting)

    def send(self) -> None:
        while self.waiting and len(self.sent) < _MOST_SENT:
            task = self.waiting.popleft()
            self.sent[task.number] = task
            with contextlib.suppress(ConnectionError):  # it has ended, as the wait will say
                self.connection.send(task)

    def receive(self) -> tuple[_worker.Answer, list[Example]]:
        """An answer, with the examples; nobody writes to their arrays as long as they are there."""
        answer = self.connection.recv()
        task = self.sent.pop(answer.number)
        self.n_made += len(task.indices)
        if answer.memory is not None:
            self.slots.replace(answer.slot, answer.memory)
        buffers: tp.Iterator[tp.Any]
        sizes = [size for _, sizes in answer.examples for size in sizes]
        if answer.buffers is None and sizes:
            buffers = iter(self.slots.read(answer.slot, sizes))
        else:
            buffers = map(bytearray, answer.buffers or ())  # arrays may be written to
            self.slots.give_back(answer.slot)
        # An example takes as many of the buffers as it needs.
        return answer, [pickle.loads(data, buffers=buffers) for data, _ in answer.examples]


class _Batch(tp.NamedTuple):
    """A minibatch on its way."""

    here: Place
    after: Place
    tasks: list[int]


def _end_all(processes: list[_Process]) -> None:
    for process in processes:
        process.connection.close()
    _processes.end(process.process for process in processes)
    for process in processes:
        for task in process.sent.values():
            remove_memory(task.memory)
    processes.clear()


class TimeoutWarning(RuntimeWarning):
    """Examples take longer than ``dataset_timeout``."""


class MultiprocessIterator(EpochIterator):
    """Gives the minibatches of `SerialIterator`; other processes make the next ones meanwhile.

    Each process has a copy of the dataset and makes minibatches, or parts of them. Arrays lie in
    memory that is shared with it, and with processes that are forked while they are there. What
    needs a new random order is not made ahead, so that random numbers are drawn when
    `SerialIterator` would draw them, and a snapshot resumes to the same minibatches. NumPy's and
    Python's global generators of a process begin anew with each example, by a seed of the iterator
    and the example's place: augmented examples depend neither on the number of processes nor on
    which of them makes what.

    How processes are started is Python's choice (`multiprocessing.set_start_method`); with other
    ways than ``fork`` the dataset has to be picklable, and the program needs the usual ``if
    __name__ == '__main__'``.

    Args:
        dataset: Has a length and examples by index, which can be pickled.
        batch_size (int): Examples of a minibatch.
        repeat (bool): Whether it goes on after an epoch.
        shuffle (bool): Whether each epoch has a new random order; None: unless ``order_sampler`` is
            given.
        n_processes (int): How many processes; None: as many as there are CPUs for this one.
        n_prefetch (int): How many minibatches are made ahead.
        shared_mem (int): How many bytes of an example may go by shared memory; larger ones take
            another way, which is slower. None: any number.
        order_sampler (callable): Makes the order of an epoch; see `OrderSampler`.
        dataset_timeout (float): After how many seconds of waiting for a minibatch there is a
            `TimeoutWarning`; None: never.
        maxtasksperchild (int): After how many examples a process is replaced by a new one, if the
            dataset does not give memory back; None: never.

    Raises:
        ValueError: For numbers that are not positive (``n_prefetch``: negative), and for both
            ``shuffle`` and ``order_sampler``.
    """

    # Also a name of the module, where pytest-xdist looks for the class of a warning.
    TimeoutWarning = TimeoutWarning

    _own = '_lock', '_processes', '_batches', '_answers', '_numbers', '_pid', '_end'

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        n_processes: int | None = None,
        n_prefetch: int = 1,
        shared_mem: int | None = None,
        order_sampler: AnyCallable | None = None,
        dataset_timeout: float | None = 30.0,
        maxtasksperchild: int | None = None,
    ) -> None:
        numbers = {'n_processes': n_processes, 'maxtasksperchild': maxtasksperchild}
        for name, value in numbers.items():
            if value is not None and value < 1:
                raise ValueError(f'MultiprocessIterator: {name} must be positive, not {value}')
        if n_prefetch < 0:
            raise ValueError(f'MultiprocessIterator: n_prefetch must not be negative: {n_prefetch}')
        self.n_processes = n_processes or _count_cpus()
        self.n_prefetch = n_prefetch
        self.shared_mem = shared_mem
        self.dataset_timeout = dataset_timeout
        self.maxtasksperchild = maxtasksperchild
        _, key, position, *_ = np.random.get_state()  # looked at, not drawn from
        self._seed = zlib.crc32(np.append(key, np.uint32(position)).tobytes())
        super().__init__(dataset, batch_size, repeat, shuffle, order_sampler)
        self.shuffle = shuffle

    def _begin(self) -> None:
        super()._begin()
        self._begin_without_processes()

    def _begin_without_processes(self) -> None:
        self._processes: list[_Process] = []
        self._batches: collections.deque[_Batch] = collections.deque()
        self._answers: dict[int, tuple[_worker.Answer, list[Example]]] = {}
        self._numbers = itertools.count()
        self._pid = os.getpid()
        # Registered with multiprocessing, which would wait at exit for processes that do not end.
        self._end = multiprocessing.util.Finalize(
            self, _end_all, (self._processes,), exitpriority=1
        )

    def reset(self) -> None:
        """Goes back to the start, with a new order."""
        with self._lock:
            self._drop()
            super().reset()

    def finalize(self) -> None:
        """Ends the processes. Using the iterator again starts new ones.

        One that does not end within some seconds, because it was stopped or hangs, is killed.
        """
        self._end()
        self._begin_without_processes()

    def __next__(self) -> list[Example]:
        """The next minibatch.

        Returns:
            list: The examples.

        Raises:
            StopIteration: After the epoch without ``repeat``, and for an empty dataset.
            RuntimeError: If a process has ended, or another thread has called `finalize`.
            Exception: The exception of the dataset, with a note that names process and index; the
                iterator is as it was.
        """
        with self._lock:
            return self._next()

    def _next(self) -> list[Example]:
        if self._is_over(self._place):
            raise StopIteration
        if self._pid != os.getpid():  # a forked process: the workers are its parent's
            self._begin_without_processes()
        end = self._end
        try:
            error = self._wait(self._fill())
        except BaseException as found:
            is_ended = not end.still_active()
            # Ctrl-C may have come in the middle of a message.
            self.finalize()
            if is_ended and isinstance(found, Exception):
                raise RuntimeError(
                    'MultiprocessIterator: finalize() was called in another thread, which has '
                    'ended the processes before the minibatch was made'
                ) from found
            raise
        if error is not None:
            self._drop()
            raise error
        batch = self._batches.popleft()
        self._place = batch.after
        examples = [x for number in batch.tasks for x in self._answers.pop(number)[1]]
        try:
            if not self._is_over(self._place) and not self._needs_order(self._place):
                self._fill()
        except BaseException:
            self.finalize()
            raise
        return examples

    # ---- tasks ----

    def _fill(self) -> _Batch:
        """Sends the tasks that are needed now and, as far as they are known, the next ones."""
        if self._batches and not self._batches[0].here.is_same(self._place):
            self._drop()
        self._start()
        place = self._batches[-1].after if self._batches else self._place
        while len(self._batches) <= self.n_prefetch:
            if self._is_over(place) or (self._batches and self._needs_order(place)):
                break
            indices, after = self._advance(place)
            self._batches.append(_Batch(place, after, self._share(indices, place)))
            place = after
        for process in self._processes:
            process.send()
        return self._batches[0]

    def _share(self, indices: list[int], place: Place) -> list[int]:
        """Shares a minibatch out. Returns the tasks in its order."""
        # Where enough are made at a time for all processes, one makes the whole of it: then its
        # arrays lie side by side. There are no more at a time than in an epoch.
        n_batches = min(self.n_prefetch + 1, -(-self._size(place) // self.batch_size))
        n_parts = -(-self.n_processes // n_batches)
        size = min(_MOST_INDICES, -(-len(indices) // n_parts))
        numbers = []
        for begin in range(0, len(indices), size):
            number = next(self._numbers)
            seed = self._seed, place.epoch, place.position + begin
            process = self._processes[number % len(self._processes)]
            process.give(number, [int(i) for i in indices[begin : begin + size]], seed)
            numbers.append(number)
        return numbers

    def _drop(self) -> None:
        """Drops prefetched minibatches; pending answers are discarded."""
        for process in self._processes:
            for task in process.waiting:
                process.slots.give_back(task.slot)
            process.waiting.clear()
        self._batches.clear()
        self._answers.clear()

    # ---- processes ----

    def _start(self) -> None:
        if self.maxtasksperchild is not None:
            for i, process in enumerate(self._processes):
                is_idle = not process.sent and not process.waiting
                if is_idle and process.n_made >= self.maxtasksperchild:
                    _end_all([process])
                    self._processes[i] = self._new(i)
        for i in range(len(self._processes), self.n_processes):
            self._processes.append(self._new(i))

    def _new(self, number: int) -> _Process:
        # One resource tracker for all processes, which then clears up after a killed one.
        resource_tracker.ensure_running()
        siblings = [p.connection for p in self._processes if not p.connection.closed]
        return _Process(number, self.dataset, self.shared_mem, self.n_prefetch, siblings)

    def _wait(self, batch: _Batch) -> BaseException | None:
        """Takes answers until all of a minibatch are there. Returns the error of a dataset."""
        timeout = self.dataset_timeout
        while True:
            for number in batch.tasks:
                answer, _ = self._answers.get(number, (None, None))
                if answer is not None and answer.error is not None:
                    return answer.error
            missing = {number for number in batch.tasks if number not in self._answers}
            if not missing:
                return None
            # Others may have ended over a later minibatch, which is not asked for yet.
            waiting: dict[tp.Any, tuple[int, _Process]]
            waiting = {
                p.connection: (i, p) for i, p in enumerate(self._processes) if p.has_any(missing)
            }
            ready = multiprocessing.connection.wait(list(waiting), timeout)
            if not ready:
                warnings.warn(
                    f'MultiprocessIterator: no example for {timeout} s '
                    '(dataset_timeout); still waiting',
                    self.TimeoutWarning,
                    stacklevel=3,
                )
                timeout = None
            for connection in ready:
                self._take(*waiting[connection])

    def _take(self, number: int, process: _Process) -> None:
        try:
            answer, examples = process.receive()
        except (EOFError, ConnectionError) as error:
            process.process.join(5)
            tasks = [*process.sent.values()]
            indices = tasks[0].indices if tasks else []
            raise RuntimeError(
                f'MultiprocessIterator: process {number} (pid {process.process.pid}) has ended '
                f'with exit code {process.process.exitcode} while it made examples '
                f'{indices[0]} to {indices[-1]} of the dataset'
            ) from error
        if answer.error is not None:
            answer.error.add_note(
                f'MultiprocessIterator: raised by example {answer.failed} of the dataset in '
                f'process {number} (pid {process.process.pid}):\n{answer.text}'
            )
        if any(answer.number in batch.tasks for batch in self._batches):
            self._answers[answer.number] = answer, examples
        process.send()

    def _serialize(self, serializer: AbstractSerializer) -> None:
        super()._serialize(serializer)
        with contextlib.suppress(KeyError):  # a snapshot of v7
            self._seed = int(serializer('seed', self._seed))


def _count_cpus() -> int:
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
