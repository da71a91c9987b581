"""Hyperparameters that change at given times."""

from __future__ import annotations

import typing as tp

from chainer.training.extensions._shift import _RecomputedShift

if tp.TYPE_CHECKING:
    from chainer.optimizer import Optimizer
    from chainer.serializer import AbstractSerializer


class MultistepShift(_RecomputedShift):
    """Multiplies an attribute of an optimizer with a factor after given numbers of calls.

    Args:
        attr (str): Name of the attribute, such as ``'lr'``.
        gamma (float): The factor.
        step_value (sequence of int): After how many calls. Each is a step of its own: one that is
            not larger than the one before follows with the next call.
        init (float): The first value.
        optimizer (Optimizer): Default: the main one of the updater.
    """

    def __init__(
        self,
        attr: str,
        gamma: float,
        step_value: tp.Sequence[float],
        init: float,
        optimizer: Optimizer | None = None,
    ) -> None:
        super().__init__(attr, optimizer)
        self._gamma = gamma
        self._step_value = list(step_value)
        self._init = init

    def value_at(self, t: int) -> float:
        """The value.

        Args:
            t (int): The number of calls.
        """
        return self._gamma ** self._steps(t) * tp.cast(float, self._init)

    def _steps(self, t: int) -> int:
        count, taken = 0, 0.0
        for step in self._step_value:
            taken = max(step, taken + 1)
            if taken > t:
                break
            count += 1
        return count

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads how often it was called.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        super().serialize(serializer)
        # Chainer v7 expects this in a snapshot; here it follows from the number of calls.
        serializer('_current_step', self._steps(self._t))
