"""Hyperparameters that change by steps of equal length."""

from __future__ import annotations

import typing as tp

from chainer.training.extensions._shift import Shift

if tp.TYPE_CHECKING:
    from chainer.optimizer import Optimizer


class StepShift(Shift):
    """Sets an attribute of an optimizer to ``init * gamma ** (t // step)``; ``t`` counts the calls.

    Args:
        attr (str): Name of the attribute, such as ``'lr'``.
        gamma (float): The factor of each step.
        step (float): How many calls a step lasts.
        init (float): The first value; default: the current value of the attribute.
        target (float): The final value.
        optimizer (Optimizer): Default: the main one of the updater.

    Raises:
        ValueError: If ``step`` is not positive.
    """

    def __init__(
        self,
        attr: str,
        gamma: float,
        step: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: Optimizer | None = None,
    ) -> None:
        super().__init__(attr, optimizer)
        if step <= 0:
            raise ValueError(f'StepShift: step must be positive, not {step}')
        self._gamma = gamma
        self._step = step
        self._init = init
        self._target = target

    def value_at(self, t: int) -> float:
        """The value, without the target.

        Args:
            t (int): The number of calls.
        """
        return tp.cast(float, self._init) * self._gamma ** (t // self._step)
