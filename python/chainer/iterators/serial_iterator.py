"""An iterator in the process and thread of its caller."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer.dataset import Iterator
from chainer.iterators.order_samplers import ShuffleOrderSampler

if tp.TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer


class SerialIterator(Iterator):
    """Gives minibatches of a dataset, one after the other.

    With ``repeat``, a minibatch at the end of an epoch is filled up from the next one; without, it
    is smaller, and then iteration stops.

    Args:
        dataset: Has a length and examples by index.
        batch_size (int): Examples of a minibatch.
        repeat (bool): Whether it goes on after an epoch.
        shuffle (bool): Whether each epoch has a new random order; None: unless ``order_sampler`` is
            given.
        order_sampler (callable): Makes the order of an epoch; see `OrderSampler`.

    Attributes:
        epoch (int): The number of epochs that have ended.
        is_new_epoch (bool): Whether the last minibatch ended one.
        current_position (int): How many examples of this epoch were given.

    Raises:
        ValueError: If ``batch_size`` is not positive, and for both ``shuffle`` and
            ``order_sampler``.
    """

    current_position: int
    epoch: int
    is_new_epoch: bool

    def __init__(
        self,
        dataset: tp.Any,
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        order_sampler: tp.Any = None,
    ) -> None:
        if batch_size < 1:
            raise ValueError(f'SerialIterator: batch_size must be positive, not {batch_size}')
        if shuffle is not None and order_sampler is not None:
            raise ValueError('SerialIterator: shuffle and order_sampler cannot both be given')
        self.dataset = dataset
        self.batch_size = batch_size
        self._repeat = repeat
        self._shuffle = shuffle
        if order_sampler is None and (shuffle or shuffle is None):
            order_sampler = ShuffleOrderSampler()
        self.order_sampler = order_sampler
        self.reset()

    def reset(self) -> None:
        """Goes back to the start, with a new order."""
        self.current_position = 0
        self.epoch = 0
        self.is_new_epoch = False
        self._previous_epoch_detail = -1.0
        self._order: tp.Any = None
        if self.order_sampler is not None:
            self._order = self.order_sampler(np.arange(len(self.dataset)), 0)

    @property
    def repeat(self) -> bool:
        """Whether it goes on after an epoch."""
        return self._repeat

    @property
    def _epoch_size(self) -> int:
        return len(self.dataset) if self._order is None else len(self._order)

    @property
    def epoch_detail(self) -> float:
        """The number of epochs, with the part of this one that is done."""
        return self.epoch + self.current_position / max(self._epoch_size, 1)

    @property
    def previous_epoch_detail(self) -> float | None:
        """`epoch_detail` before the last minibatch; None before the first one."""
        return None if self._previous_epoch_detail < 0 else self._previous_epoch_detail

    def __next__(self) -> list[tp.Any]:
        """The next minibatch.

        Returns:
            list: The examples.

        Raises:
            StopIteration: After the epoch without ``repeat``, and for an empty dataset.
        """
        size = self._epoch_size
        if size == 0 or (not self._repeat and self.epoch > 0):
            raise StopIteration
        previous = self.epoch_detail
        begin, end = self.current_position, self.current_position + self.batch_size
        order, epoch = self._order, self.epoch
        batch = self._take(order, begin, min(end, size))
        if end >= size:
            epoch, end = epoch + 1, end - size
            if self._repeat:
                while True:
                    if self.order_sampler is not None:
                        order = self.order_sampler(order, begin)
                    batch += self._take(order, 0, min(end, size))
                    if end < size:
                        break
                    epoch, end = epoch + 1, end - size  # a dataset smaller than a minibatch
            else:
                end = 0
        # Only now: where an example cannot be had, the iterator is as it was.
        self.is_new_epoch = epoch != self.epoch
        self.epoch, self.current_position, self._order = epoch, end, order
        self._previous_epoch_detail = previous
        return batch

    def _take(self, order: tp.Any, begin: int, end: int) -> list[tp.Any]:
        if order is None:
            return [self.dataset[i] for i in range(begin, end)]
        return [self.dataset[index] for index in order[begin:end]]

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads where it is, and the order of the epoch.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        self.current_position = int(serializer('current_position', self.current_position))
        self.epoch = int(serializer('epoch', self.epoch))
        self.is_new_epoch = bool(serializer('is_new_epoch', self.is_new_epoch))
        if self._order is not None:
            self._order = serializer('order', self._order)
        self._previous_epoch_detail = float(
            serializer('previous_epoch_detail', self._previous_epoch_detail)
        )
