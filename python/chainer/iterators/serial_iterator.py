"""An iterator in the process and thread of its caller."""

from __future__ import annotations

import typing as tp

from chainer.iterators._epochs import EpochIterator, get_named_example

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, Dataset, Example


class SerialIterator(EpochIterator):
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

    Raises:
        ValueError: If ``batch_size`` is not positive, and for both ``shuffle`` and
            ``order_sampler``.
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        order_sampler: AnyCallable | None = None,
    ) -> None:
        super().__init__(dataset, batch_size, repeat, shuffle, order_sampler)

    def __next__(self) -> list[Example]:
        """The next minibatch.

        Returns:
            list: The examples.

        Raises:
            StopIteration: After the epoch without ``repeat``, and for an empty dataset.
        """
        with self._lock:
            if self._is_over(self._place):
                raise StopIteration
            indices, place = self._advance(self._place)
            batch = [get_named_example(self.dataset, i, 'SerialIterator') for i in indices]
            self._place = place  # only now: where an example cannot be had, nothing has changed
            return batch
