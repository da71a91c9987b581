"""The position of an iterator in its epochs; all iterators of this folder share it."""

from __future__ import annotations

import contextlib
import copy
import operator
import os
import threading
import typing as tp
import weakref

import numpy as np

from chainer.dataset import Iterator
from chainer.iterators.order_samplers import ShuffleOrderSampler
from chainer.serializer import Deserializer

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, Dataset, Example, Order
    from chainer.serializer import AbstractSerializer


class Place(tp.NamedTuple):
    """Before a minibatch.

    Attributes:
        position (int): How many examples of this epoch were given.
        epoch (int): The number of epochs that have ended.
        is_new (bool): Whether the last minibatch ended one.
        previous (float): ``epoch_detail`` before it; negative if there was none.
        order (array): Which example stands where; None for the dataset's order.
    """

    position: int
    epoch: int
    is_new: bool
    previous: float
    order: np.ndarray | None

    def is_same(self, other: Place) -> bool:
        """Return whether two positions continue alike; orders are compared as objects."""
        return self[:4] == other[:4] and self.order is other.order


def get_example(dataset: Dataset, index: int) -> Example:
    """An example of a dataset.

    Raises:
        RuntimeError: If the dataset raises StopIteration, which would end an epoch unseen.
    """
    try:
        return dataset[index]
    except StopIteration as error:
        raise RuntimeError(f'example {index} of the dataset raised StopIteration') from error


def get_named_example(dataset: Dataset, index: int, owner: str) -> Example:
    """The same; a note of an error names the index, and the thread if it is not the main one."""
    try:
        return get_example(dataset, index)
    except Exception as error:
        thread = threading.current_thread()
        where = '' if thread is threading.main_thread() else f' in thread {thread.name}'
        error.add_note(f'{owner}: raised by example {index} of the dataset{where}')
        raise


_locks: weakref.WeakSet[tp.Any] = weakref.WeakSet()


def new_lock() -> tp.Any:
    """A lock that a thread may take again, and that no other thread has in a forked process."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def _free_locks() -> None:
    for lock in _locks:
        if not lock._is_owned():
            lock._at_fork_reinit()


os.register_at_fork(after_in_child=_free_locks)


class EpochIterator(Iterator):
    """Base of iterators whose minibatches follow from a dataset's length and an order.

    A subclass has ``__next__``, in which it holds `_lock`: threads that share an iterator get each
    minibatch once. Pickles and copies are at the same place, with workers of their own.

    Raises:
        TypeError: If ``batch_size`` is no integer.
        ValueError: If it is not positive, and for both ``shuffle`` and ``order_sampler``.
    """

    _order_key = 'order'
    _own: tuple[str, ...] = ('_lock',)  # attributes that `_begin` makes, and copies do not share
    _place: Place

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int,
        repeat: bool,
        shuffle: bool | None,
        sampler: AnyCallable | None,
    ) -> None:
        owner = type(self).__name__
        try:
            batch_size = operator.index(batch_size)
        except TypeError:
            raise TypeError(f'{owner}: batch_size must be an int, not {batch_size!r}') from None
        if batch_size < 1:
            raise ValueError(f'{owner}: batch_size must be positive, not {batch_size}')
        if shuffle is not None and sampler is not None:
            raise ValueError(f'{owner}: shuffle and order_sampler cannot both be given')
        self.dataset = dataset
        self.batch_size = batch_size
        self._repeat = repeat
        if sampler is None and (shuffle or shuffle is None):
            sampler = ShuffleOrderSampler()
        self.order_sampler: tp.Any = sampler
        self._begin()
        self.reset()

    def _begin(self) -> None:
        self._lock = new_lock()

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name not in self._own}

    def __setstate__(self, state: dict[str, tp.Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def __copy__(self) -> tp.Self:
        """Another one at the same place."""
        other = object.__new__(type(self))
        other.__setstate__(self.__getstate__())
        other.order_sampler = copy.copy(self.order_sampler)
        return other

    def reset(self) -> None:
        """Goes back to the start, with a new order."""
        with self._lock:
            order = None
            if self.order_sampler is not None:
                order = self.order_sampler(np.arange(len(self.dataset)), 0)
            self._place = Place(0, 0, False, -1.0, order)

    # ---- what a trainer reads ----

    @property
    def repeat(self) -> bool:
        """Whether it goes on after an epoch."""
        return self._repeat

    @property
    def epoch(self) -> int:
        """The number of epochs that have ended."""
        return self._place.epoch

    @epoch.setter
    def epoch(self, value: int) -> None:
        self._place = self._place._replace(epoch=value)

    @property
    def is_new_epoch(self) -> bool:
        """Whether the last minibatch ended an epoch."""
        return self._place.is_new

    @is_new_epoch.setter
    def is_new_epoch(self, value: bool) -> None:
        self._place = self._place._replace(is_new=value)

    @property
    def current_position(self) -> int:
        """How many examples of this epoch were given."""
        return self._place.position

    @current_position.setter
    def current_position(self, value: int) -> None:
        self._place = self._place._replace(position=value)

    @property
    def epoch_detail(self) -> float:
        """The number of epochs, with the part of this one that is done."""
        return self._detail(self._place)

    @property
    def previous_epoch_detail(self) -> float | None:
        """`epoch_detail` before the last minibatch; None before the first one."""
        return None if self._place.previous < 0 else self._place.previous

    # ---- the way from minibatch to minibatch ----

    def _size(self, place: Place) -> int:
        return len(self.dataset) if place.order is None else len(place.order)

    def _detail(self, place: Place) -> float:
        return place.epoch + place.position / max(self._size(place), 1)

    def _is_over(self, place: Place) -> bool:
        return self._size(place) == 0 or (not self._repeat and place.epoch > 0)

    def _needs_order(self, place: Place) -> bool:
        """Whether an order has to be drawn for the next minibatch."""
        if not self._repeat or self.order_sampler is None:
            return False
        return place.position + self.batch_size >= self._size(place)

    def _advance(self, place: Place) -> tuple[list[int], Place]:
        """Indices of the next minibatch, and the place behind it. Not after the end."""
        size = self._size(place)
        begin, end = place.position, place.position + self.batch_size
        order, epoch = place.order, place.epoch
        indices = _cut(order, begin, min(end, size))
        if end >= size:
            epoch, end = epoch + 1, end - size
            if not self._repeat:
                end = 0
            else:
                while True:
                    if self.order_sampler is not None:
                        order = self._new_order(order, begin, size)
                    indices += _cut(order, 0, min(end, size))
                    if end < size:
                        break
                    epoch, end = epoch + 1, end - size  # a dataset smaller than a minibatch
        return indices, Place(end, epoch, epoch != place.epoch, self._detail(place), order)

    def _new_order(self, order: np.ndarray | None, position: int, size: int) -> np.ndarray | None:
        order = self.order_sampler(order, position)
        new_size = len(self.dataset) if order is None else len(order)
        if new_size != size:
            raise ValueError(
                f'{type(self).__name__}: order_sampler returned an order of {new_size} examples '
                f'after one of {size}'
            )
        return order

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads where it is, and the order of the epoch.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        with self._lock:
            self._serialize(serializer)

    def _serialize(self, serializer: AbstractSerializer) -> None:
        position, epoch, is_new, previous, order = self._place
        position = int(serializer('current_position', position))
        epoch = int(serializer('epoch', epoch))
        is_new = bool(serializer('is_new_epoch', is_new))
        if order is not None:
            loaded = self._serialize_order(serializer, order)
            if not np.array_equal(loaded, order):
                order = loaded
        if isinstance(serializer, Deserializer):
            previous = self._guess_previous(Place(position, epoch, is_new, previous, order))
        with contextlib.suppress(KeyError):
            previous = float(serializer('previous_epoch_detail', previous))
        serialize = getattr(self.order_sampler, 'serialize', None)
        if serialize is not None:
            serialize(serializer['order_sampler'])
        self._place = Place(position, epoch, is_new, previous, order)

    def _serialize_order(self, serializer: AbstractSerializer, order: np.ndarray | None) -> tp.Any:
        # A copy, because loading writes into it while prefetched minibatches refer to the old one.
        order = np.array(order)
        if isinstance(serializer, Deserializer):
            for key in ('order', '_order'):  # one of them, by iterator and version
                with contextlib.suppress(KeyError):
                    if serializer(key, None) is not None:
                        return serializer(key, order)
        return serializer(self._order_key, order)

    def _guess_previous(self, place: Place) -> float:
        """`previous_epoch_detail`, where a snapshot of an early version does not say it."""
        now = self._detail(place)
        return max(now - self.batch_size / max(self._size(place), 1), 0.0) if now > 0 else -1.0


def _cut(order: Order | None, begin: int, end: int) -> list[int]:
    return list(range(begin, end)) if order is None else list(order[begin:end])
