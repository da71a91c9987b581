"""Triggers that fire when a value is better than ever."""

from __future__ import annotations

import math
import operator
import typing as tp

from chainer import reporter
from chainer.training._state import serialize_number
from chainer.training._trigger import get_trigger

if tp.TYPE_CHECKING:
    from chainer._typing import TriggerLike
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class BestValueTrigger:
    """Fires when the mean of an observed value is better than ever; NaN never is.

    Args:
        key (str): Name of the value in the observation.
        compare (callable): Takes the best value so far and the new one, and says whether the new
            one is better.
        trigger: When means are taken and compared; any argument of `get_trigger`.
    """

    def __init__(
        self,
        key: str,
        compare: tp.Callable[[float, float], bool],
        trigger: TriggerLike = (1, 'epoch'),
    ) -> None:
        self._key = key
        self._best_value: float | None = None
        self._interval_trigger = get_trigger(trigger)
        self._compare = compare
        self._init_summary()

    def __call__(self, trainer: Trainer) -> bool:
        """Whether to fire.

        Args:
            trainer (Trainer): Whose observation is looked at.

        Returns:
            bool: Whether an interval has ended, and the mean over it is the best one.

        Raises:
            KeyError: If an interval has ended in which the value was never observed.
        """
        key = self._key
        observation = trainer.observation
        if key in observation:
            self._summary.add({key: observation[key]})
        if not self._interval_trigger(trainer):
            return False
        means = self._summary.compute_mean()
        if key not in means:
            seen = ', '.join(map(repr, observation)) or 'nothing'
            raise KeyError(
                f'{type(self).__name__}: {key!r} was not observed since the last check; '
                f'the observation has {seen}'
            )
        value = float(means[key])
        self._init_summary()
        if math.isnan(value):  # which would stay the best for ever
            return False
        best = self._best_value
        if best is None or math.isnan(best) or self._compare(best, value):
            self._best_value = value
            return True
        return False

    def _init_summary(self) -> None:
        self._summary = reporter.DictSummary()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the best value and the observations since the last check.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        if hasattr(self._interval_trigger, 'serialize'):
            self._interval_trigger.serialize(serializer['interval_trigger'])
        self._summary.serialize(serializer['summary'])
        self._best_value = serialize_number(serializer, 'best_value', self._best_value)


class MaxValueTrigger(BestValueTrigger):
    """Fires when the mean of an observed value is larger than ever.

    Args:
        key (str): Name of the value in the observation.
        trigger: When means are taken and compared; any argument of `get_trigger`.
    """

    def __init__(self, key: str, trigger: TriggerLike = (1, 'epoch')) -> None:
        super().__init__(key, operator.lt, trigger)


class MinValueTrigger(BestValueTrigger):
    """Fires when the mean of an observed value is smaller than ever.

    Args:
        key (str): Name of the value in the observation.
        trigger: When means are taken and compared; any argument of `get_trigger`.
    """

    def __init__(self, key: str, trigger: TriggerLike = (1, 'epoch')) -> None:
        super().__init__(key, operator.gt, trigger)
