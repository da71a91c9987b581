"""In which order an iterator gives examples."""

from __future__ import annotations

import contextlib
import json
import typing as tp

import numpy as np

from chainer.serializer import AbstractSerializer, Deserializer


class OrderSampler:
    """Base of samplers, which give the order of an epoch.

    One that has a state has a method ``serialize``, which snapshots of its iterator call.
    """

    def __call__(self, current_order: np.ndarray, current_position: int) -> np.ndarray:
        """Makes the order of the next epoch. Overridden.

        Args:
            current_order (array): Indices in the order of the epoch that ends.
            current_position (int): How many examples of it were given.

        Returns:
            array: Indices, of any number in the first epoch and as many in all later ones; None for
            the natural order.
        """
        raise NotImplementedError(f'{type(self).__name__}.__call__ is not implemented')


class ShuffleOrderSampler(OrderSampler):
    """A random order for each epoch.

    Args:
        random_state (numpy.random.RandomState): Where it is drawn from; default: NumPy's global
            generator.
    """

    def __init__(self, random_state: tp.Any = None) -> None:
        # NumPy's own is a module, which can't be pickled.
        self._random = None if random_state is np.random else random_state

    def __call__(self, current_order: np.ndarray, current_position: int) -> np.ndarray:
        """Draws an order.

        Args:
            current_order (array): As many indices.
            current_position (int): Not looked at.

        Returns:
            array: Indices.
        """
        random = np.random if self._random is None else self._random
        return random.permutation(len(current_order))

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the state of a generator of its own, which snapshots of v7 do not have.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        if self._random is None:  # snapshots of trainers have it
            return
        if not isinstance(serializer, Deserializer):
            serializer('random_state', json.dumps(_state_of(self._random), default=_to_list))
            return
        with contextlib.suppress(KeyError):
            text = serializer('random_state', None)
            if text is not None:
                _set_state(self._random, json.loads(str(text)))


def _to_list(value: tp.Any) -> list[int]:
    return [int(x) for x in value]


def _state_of(random: tp.Any) -> dict[str, tp.Any]:
    if isinstance(random, np.random.Generator):
        return tp.cast(dict[str, tp.Any], random.bit_generator.state)
    return tp.cast(dict[str, tp.Any], random.get_state(legacy=False))


def _set_state(random: tp.Any, state: dict[str, tp.Any]) -> None:
    if isinstance(random, np.random.Generator):
        random.bit_generator.state = state
    else:
        random.set_state(state)
