"""Hyperparameters that go from one value to another in a straight line."""

from __future__ import annotations

import typing as tp

from chainer.training.extensions._shift import Shift

if tp.TYPE_CHECKING:
    from chainer.optimizer import Optimizer


class LinearShift(Shift):
    """Moves an attribute of an optimizer from one value to another.

    Args:
        attr (str): Name of the attribute, such as ``'lr'``.
        value_range (tuple of float): The first value and the last one.
        time_range (tuple of int): After how many calls it begins to move, and after how many it
            has arrived.
        optimizer (Optimizer): Default: the main one of the updater.

    Raises:
        ValueError: If a range is no pair.
    """

    def __init__(
        self,
        attr: str,
        value_range: tuple[float, float],
        time_range: tuple[float, float],
        optimizer: Optimizer | None = None,
    ) -> None:
        super().__init__(attr, optimizer)
        for name, pair in (('value_range', value_range), ('time_range', time_range)):
            if len(pair) != 2:
                raise ValueError(f'LinearShift: {name} must be a pair, not {pair!r}')
        self._value_range = value_range
        self._init = value_range[0]
        self._time_range = time_range

    def _first_value(self) -> float:
        return self.value_at(0)

    def value_at(self, t: int) -> float:
        """The value.

        Args:
            t (int): The number of calls.
        """
        (first, last), (begin, end) = self._value_range, self._time_range
        if t <= begin:
            return first
        if t >= end:
            return last
        return first + (last - first) * ((t - begin) / (end - begin))
