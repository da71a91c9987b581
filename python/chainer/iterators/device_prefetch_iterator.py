"""An iterator that brings the next minibatch to a device while the device computes."""

from __future__ import annotations

import contextlib
import copy
import typing as tp

from chainer import backend
from chainer.dataset import convert
from chainer.dataset.iterator import Iterator
from chainer.iterators._epochs import EpochIterator, new_lock
from chainer.serializer import Serializer

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, Dataset
    from chainer.serializer import AbstractSerializer
    from chainer.types import DeviceSpec


class DevicePrefetchIterator(Iterator):
    """Gives the minibatches of another iterator as arrays on a device, the next one ahead of use.

    An updater asks for the next minibatch (`prefetch`) as soon as a step has been given to the
    device: where kernels run later than they are called, examples are made, put together and copied
    while it computes. Epochs, snapshots and the order of examples are as without this iterator; a
    minibatch that needs a new random order is not made ahead. Where the dataset itself draws random
    numbers, `MultiprocessIterator` keeps a training that goes on from a snapshot the same: the
    other iterators draw for the next minibatch before the snapshot is taken.

    Args:
        iterator: A `SerialIterator`, `MultithreadIterator` or `MultiprocessIterator`.
        device: Where arrays are brought; any argument of `chainer.get_device`.
        converter (callable): Makes arrays of a list of examples. That of an updater or an evaluator
            is not called for minibatches of this iterator.

    Raises:
        TypeError: For another iterator.
    """

    def __init__(
        self,
        iterator: EpochIterator,
        device: DeviceSpec,
        converter: AnyCallable = convert.concat_examples,
    ) -> None:
        if not isinstance(iterator, EpochIterator):
            raise TypeError(
                'DevicePrefetchIterator: iterator must be a SerialIterator, MultithreadIterator or '
                f'MultiprocessIterator, not {type(iterator).__name__}'
            )
        self._iterator = iterator
        self._device = backend.get_device(device)
        self._converter = converter
        self._here = iterator._place  # behind the minibatch that was given last
        self._begin()

    def _begin(self) -> None:
        self._lock = new_lock()  # threads that share it get each minibatch once
        self._ready: convert.Converted | None = None

    def __getstate__(self) -> dict[str, object]:
        iterator = copy.copy(self._iterator)
        iterator._place = self._here
        state = {**self.__dict__, '_iterator': iterator}
        del state['_lock'], state['_ready']
        return state

    def __setstate__(self, state: dict[str, tp.Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def _get(self) -> convert.Converted:
        try:
            batch = self._iterator.next()
            arrays = convert.call_converter(self._converter, batch, self._device)
        except BaseException:
            self._iterator._place = self._here  # so that none is left out
            raise
        return convert.Converted(arrays)

    def __next__(self) -> convert.Converted:
        """The next minibatch.

        Returns:
            Converted: Its ``arrays`` are the result of the converter.

        Raises:
            StopIteration: As the other iterator.
            Exception: The exception of the dataset or the converter.
        """
        with self._lock:
            if self._ready is None:
                batch = self._get()
            else:
                batch, self._ready = self._ready, None
            self._here = self._iterator._place
            return batch

    def prefetch(self) -> None:
        """Makes the next minibatch and begins to copy it, unless that needs a new random order.

        An exception of the dataset is raised when the minibatch is requested.
        """
        iterator = self._iterator
        with self._lock:
            if (
                self._ready is not None
                or iterator._is_over(self._here)
                or iterator._needs_order(self._here)
            ):
                return
            with contextlib.suppress(Exception):  # raised again when it is its turn
                self._ready = self._get()

    def reset(self) -> None:
        """Goes back to the start, with a new order."""
        with self._lock:
            self._ready = None
            self._iterator.reset()
            self._here = self._iterator._place

    def finalize(self) -> None:
        """Releases the resources of the other iterator."""
        self._iterator.finalize()  # first, because another thread may wait for its processes
        with self._lock:
            self._ready = None
            self._iterator._place = self._here

    # ---- what a trainer reads ----

    @property
    def dataset(self) -> Dataset:
        """That of the other iterator."""
        return self._iterator.dataset

    @property
    def batch_size(self) -> int:
        """That of the other iterator."""
        return self._iterator.batch_size

    @property
    def repeat(self) -> bool:
        """Whether it goes on after an epoch."""
        return self._iterator.repeat

    @property
    def epoch(self) -> int:
        """The number of epochs that have ended."""
        return self._here.epoch

    @property
    def is_new_epoch(self) -> bool:
        """Whether the last minibatch ended an epoch."""
        return self._here.is_new

    @property
    def epoch_detail(self) -> float:
        """The number of epochs, with the part of this one that is done."""
        return self._iterator._detail(self._here)

    @property
    def previous_epoch_detail(self) -> float | None:
        """`epoch_detail` before the last minibatch; None before the first one."""
        return None if self._here.previous < 0 else self._here.previous

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the other iterator, as it stands behind the minibatch given last.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        iterator = self._iterator
        ahead = iterator._place
        iterator._place = self._here
        if isinstance(serializer, Serializer):
            try:
                iterator.serialize(serializer)
            finally:
                iterator._place = ahead
        else:
            self._ready = None
            iterator.serialize(serializer)
            self._here = iterator._place
