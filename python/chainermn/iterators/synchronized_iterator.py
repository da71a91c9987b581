"""`create_synchronized_iterator`."""

from __future__ import annotations

import typing as tp

import numpy as np
from chainer.iterators.order_samplers import ShuffleOrderSampler

if tp.TYPE_CHECKING:
    from chainermn.communicators.communicator_base import CommunicatorBase


def create_synchronized_iterator(actual_iterator: tp.Any, communicator: CommunicatorBase) -> tp.Any:
    """Makes iterators of all processes shuffle alike.

    For processes that each have the whole dataset and compute parts of a model. An iterator that
    does not shuffle stays as it is.

    Args:
        actual_iterator (Iterator): One that has an ``order_sampler``; it is changed, and starts
            anew.
        communicator (CommunicatorBase): Connects the processes, which must all call this.

    Returns:
        The iterator.

    Raises:
        ValueError: If it has no ``order_sampler``.
    """
    if not hasattr(actual_iterator, 'order_sampler'):
        raise ValueError(
            'create_synchronized_iterator: actual_iterator must have an order_sampler; '
            f'{type(actual_iterator).__name__} has none'
        )
    seed = communicator.bcast_obj(int(np.random.randint(0, 2**31)))
    if actual_iterator.order_sampler is not None:
        random = np.random.RandomState(seed)
        actual_iterator.order_sampler = ShuffleOrderSampler(random)
        actual_iterator.reset()
    return actual_iterator
