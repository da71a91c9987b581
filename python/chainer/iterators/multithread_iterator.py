"""An iterator whose examples are made by threads, ahead of use."""

from __future__ import annotations

import concurrent.futures
import os
import typing as tp

from chainer.iterators._epochs import EpochIterator, Place, get_named_example

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, Dataset, Example


class MultithreadIterator(EpochIterator):
    """Gives the minibatches of `SerialIterator`; threads make the next one while one is in use.

    That helps where making an example waits for files, or computes without the interpreter's lock.
    The dataset is called from several threads at once. What needs a new random order is not made
    ahead, so that random numbers are drawn when `SerialIterator` would draw them.

    Args:
        dataset: Has a length and examples by index.
        batch_size (int): Examples of a minibatch.
        repeat (bool): Whether it goes on after an epoch.
        shuffle (bool): Whether each epoch has a new random order; None: unless ``order_sampler`` is
            given.
        n_threads (int): How many threads.
        order_sampler (callable): Makes the order of an epoch; see `OrderSampler`.

    Raises:
        ValueError: If ``batch_size`` or ``n_threads`` is not positive, and for both ``shuffle`` and
            ``order_sampler``.
    """

    _order_key = '_order'  # its name in snapshots of v7
    _own = '_lock', '_pool', '_ahead', '_pid'

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        n_threads: int = 1,
        order_sampler: AnyCallable | None = None,
    ) -> None:
        if n_threads < 1:
            raise ValueError(f'MultithreadIterator: n_threads must be positive, not {n_threads}')
        self.n_threads = n_threads
        super().__init__(dataset, batch_size, repeat, shuffle, order_sampler)

    def _begin(self) -> None:
        super()._begin()
        self._begin_without_threads()

    def _begin_without_threads(self) -> None:
        self._pool: concurrent.futures.ThreadPoolExecutor | None = None
        self._ahead: tuple[Place, list[Example], Place] | None = None
        self._pid = os.getpid()

    def reset(self) -> None:
        """Goes back to the start, with a new order."""
        with self._lock:
            self._drop()
            super().reset()

    def finalize(self) -> None:
        """Ends the threads after their current work. Using it again starts new ones."""
        with self._lock:
            self._drop()
            if self._pool is not None:
                self._pool.shutdown()
                self._pool = None

    def __next__(self) -> list[Example]:
        """The next minibatch.

        Returns:
            list: The examples.

        Raises:
            StopIteration: After the epoch without ``repeat``, and for an empty dataset.
        """
        with self._lock:
            return self._next()

    def _next(self) -> list[Example]:
        here = self._place
        if self._is_over(here):
            raise StopIteration
        if self._pid != os.getpid():  # a forked process: the threads are its parent's
            self._begin_without_threads()
        if self._ahead is None or not self._ahead[0].is_same(here):
            self._drop()
            self._ahead = self._start(here)
        _, futures, after = self._ahead
        try:
            batch = [future.result() for future in futures]
        except BaseException:
            self._drop()
            raise
        self._ahead = None
        self._place = after
        if not self._is_over(after) and not self._needs_order(after):
            self._ahead = self._start(after)
        return batch

    def _start(self, here: Place) -> tuple[Place, list[Example], Place]:
        if self._pool is None:
            self._pool = concurrent.futures.ThreadPoolExecutor(
                self.n_threads, thread_name_prefix='MultithreadIterator'
            )
        indices, after = self._advance(here)
        owner = 'MultithreadIterator'
        futures = [self._pool.submit(get_named_example, self.dataset, i, owner) for i in indices]
        return here, futures, after

    def _drop(self) -> None:
        if self._ahead is not None:
            for future in self._ahead[1]:
                future.cancel()
            self._ahead = None
