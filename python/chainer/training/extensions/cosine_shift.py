"""Hyperparameters that go down like a cosine."""

from __future__ import annotations

import math
import typing as tp

from chainer.training.extensions._shift import Shift

if tp.TYPE_CHECKING:
    from chainer.optimizer import Optimizer


class CosineShift(Shift):
    """Moves an attribute of an optimizer along half a cosine, after a warm-up if wanted.

    During ``warmup`` calls it grows in a straight line from 0 to ``init``; then it goes down to
    ``target``, where it is after ``max_count`` calls and stays.

    Args:
        attr (str): Name of the attribute, such as ``'lr'``.
        max_count (int): After how many calls it has arrived.
        init (float): The highest value; default: the current value of the attribute.
        target (float): The last value.
        warmup (int): How many calls of ``max_count`` the warm-up takes.
        optimizer (Optimizer): Default: the main one of the updater.

    Raises:
        ValueError: If not ``0 <= warmup < max_count``.

    Source: Loshchilov and Hutter, ICLR 2017.
    """

    def __init__(
        self,
        attr: str,
        max_count: float,
        init: float | None = None,
        target: float = 0.0,
        warmup: float = 0,
        optimizer: Optimizer | None = None,
    ) -> None:
        super().__init__(attr, optimizer)
        if not 0 <= warmup < max_count:
            raise ValueError(
                f'CosineShift: warmup must be at least 0 and less than max_count: {warmup}, '
                f'{max_count}'
            )
        self._max_count = max_count
        self._warmup = warmup
        self._init = init
        self._last = target

    def _first_value(self) -> float:
        return self.value_at(0)

    def value_at(self, t: int) -> float:
        """The value.

        Args:
            t (int): The number of calls.
        """
        init = tp.cast(float, self._init)
        if t < self._warmup:
            return init * t / self._warmup
        done = min((t - self._warmup) / (self._max_count - self._warmup), 1.0)
        return self._last + (init - self._last) * (1 + math.cos(math.pi * done)) / 2
