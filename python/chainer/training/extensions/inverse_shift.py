"""Hyperparameters that shrink by the inverse of a power."""

from __future__ import annotations

import typing as tp

from chainer.training.extensions._shift import Shift

if tp.TYPE_CHECKING:
    from chainer.optimizer import Optimizer


class InverseShift(Shift):
    """Sets an attribute of an optimizer to ``init * (1 + gamma * t) ** -power``.

    ``t`` counts the calls.

    Args:
        attr (str): Name of the attribute, such as ``'lr'``.
        gamma (float): How fast.
        power (float): The power.
        init (float): The first value; default: the current value of the attribute.
        target (float): The final value.
        optimizer (Optimizer): Default: the main one of the updater.

    Raises:
        ValueError: If ``gamma`` is negative.
    """

    def __init__(
        self,
        attr: str,
        gamma: float,
        power: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: Optimizer | None = None,
    ) -> None:
        super().__init__(attr, optimizer)
        if gamma < 0:
            raise ValueError(f'InverseShift does not support negative gamma: {gamma}')
        self._gamma = gamma
        self._power = power
        self._init = init
        self._target = target

    def value_at(self, t: int) -> float:
        """The value, without the target.

        Args:
            t (int): The number of calls.
        """
        return tp.cast(float, self._init) * (1 + self._gamma * t) ** (-self._power)
