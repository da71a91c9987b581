"""In which order an iterator gives examples."""

from __future__ import annotations

import typing as tp

import numpy as np


class OrderSampler:
    """Base of what gives the order of an epoch."""

    def __call__(self, current_order: tp.Any, current_position: int) -> tp.Any:
        """Makes the order of the next epoch. Overridden.

        Args:
            current_order (array): Indices in the order of the epoch that ends.
            current_position (int): How many examples of it were given.

        Returns:
            array: Indices; None for the natural order.
        """
        raise NotImplementedError(f'{type(self).__name__}.__call__ is not implemented')


class ShuffleOrderSampler(OrderSampler):
    """A random order for each epoch.

    Args:
        random_state (numpy.random.RandomState): Where it is drawn from; default: NumPy's global
            generator.
    """

    def __init__(self, random_state: tp.Any = None) -> None:
        self._random = np.random if random_state is None else random_state

    def __call__(self, current_order: tp.Any, current_position: int) -> tp.Any:
        """Draws an order.

        Args:
            current_order (array): As many indices.
            current_position (int): Not looked at.

        Returns:
            array: Indices.
        """
        return self._random.permutation(len(current_order))
