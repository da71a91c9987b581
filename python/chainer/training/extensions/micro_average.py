"""An extension that divides sums."""

from __future__ import annotations

import typing as tp

from chainer.training import extension
from chainer.training._state import serialize_new, serialize_number
from chainer.training._trigger import get_trigger
from chainer.training.extensions._numbers import to_number

if tp.TYPE_CHECKING:
    from chainer._typing import TriggerLike
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class MicroAverage(extension.Extension):
    """Observes the quotient of the sums of two observed values.

    With the number of right answers and of answers, that is the accuracy over batches of any sizes.

    Args:
        numerator_key (str): Name of the value that is summed in the numerator.
        denominator_key (str): Name of the value that is summed in the denominator.
        result_key (str): Name of the quotient.
        trigger: When it is observed, and sums begin anew; any argument of `get_trigger`.
    """

    priority = extension.PRIORITY_EDITOR

    def __init__(
        self,
        numerator_key: str,
        denominator_key: str,
        result_key: str,
        trigger: TriggerLike = (1, 'epoch'),
    ) -> None:
        self._trigger = get_trigger(trigger)
        self._numerator_key = numerator_key
        self._denominator_key = denominator_key
        self._result_key = result_key
        self._numerator: tp.Any = 0
        self._denominator: tp.Any = 0

    def __call__(self, trainer: Trainer) -> None:
        """Sums observations, and observes the quotient when its trigger fires.

        Args:
            trainer (Trainer): The caller.
        """
        observation = trainer.observation
        if self._numerator_key in observation and self._denominator_key in observation:
            self._numerator = self._numerator + to_number(observation[self._numerator_key])
            self._denominator = self._denominator + to_number(observation[self._denominator_key])
        if not self._trigger(trainer):
            return
        result = float('nan')
        if self._denominator != 0:
            result = float(self._numerator) / float(self._denominator)
        self._numerator = self._denominator = 0
        observation[self._result_key] = result

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the sums.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        self._numerator = serialize_number(serializer, '_numerator', self._numerator)
        self._denominator = serialize_number(serializer, '_denominator', self._denominator)
        if hasattr(self._trigger, 'serialize'):
            serialize_new(serializer, '_trigger', self._trigger)
