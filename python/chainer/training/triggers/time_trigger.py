"""A trigger that fires by the clock."""

from __future__ import annotations

import typing as tp

from chainer.training._state import serialize_number

if tp.TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class TimeTrigger:
    """Fires each time that a number of seconds of training has passed.

    Args:
        period (float): How many seconds; at 0 it fires in each iteration, at infinity never.

    Raises:
        ValueError: If that is negative or NaN.
    """

    def __init__(self, period: float) -> None:
        if not period >= 0:
            raise ValueError(f'TimeTrigger: period must be a positive number or 0, not {period!r}')
        self._period = period
        self._next_time: float = period

    def __call__(self, trainer: Trainer) -> bool:
        """Whether to fire.

        Args:
            trainer (Trainer): Whose time it is.

        Returns:
            bool: Whether a period has ended since it fired last.
        """
        if trainer.elapsed_time < self._next_time:
            return False
        self._next_time += self._period
        return True

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads when it fires next.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        loaded = serialize_number(serializer, 'next_time', self._next_time)
        self._next_time = self._next_time if loaded is None else loaded
