"""Hyperparameters that shrink or grow exponentially."""

from __future__ import annotations

import typing as tp

from chainer.training.extensions._shift import Shift

if tp.TYPE_CHECKING:
    from chainer.optimizer import Optimizer


class ExponentialShift(Shift):
    """Sets an attribute of an optimizer to ``init * rate ** t``, where ``t`` counts the calls.

    Args:
        attr (str): Name of the attribute, such as ``'lr'``.
        rate (float): The factor of each call.
        init (float): The first value; default: the current value of the attribute.
        target (float): The final value.
        optimizer (Optimizer): Default: the main one of the updater.

    Raises:
        ValueError: If ``rate`` is negative.
    """

    def __init__(
        self,
        attr: str,
        rate: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: Optimizer | None = None,
    ) -> None:
        super().__init__(attr, optimizer)
        if rate < 0:
            raise ValueError(f'ExponentialShift does not support negative rate: {rate}')
        self._rate = rate
        self._init = init
        self._target = target

    def value_at(self, t: int) -> float:
        """The value, without the target.

        Args:
            t (int): The number of calls.
        """
        return tp.cast(float, self._init) * self._rate**t
