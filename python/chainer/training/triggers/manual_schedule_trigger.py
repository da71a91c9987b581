"""A trigger that fires at given points."""

from __future__ import annotations

import numbers
import typing as tp

from chainer.training._state import serialize_optional
from chainer.training._trigger import check_unit, serialize_progress

if tp.TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class ManualScheduleTrigger:
    """Fires when training passes given epochs or iterations.

    Args:
        points (int, float or list of them): Where.
        unit (str): ``'epoch'`` or ``'iteration'``.

    Raises:
        ValueError: For another unit.
        TypeError: For points that are no numbers.

    Attributes:
        finished (bool): Whether the last point has passed.
    """

    def __init__(self, points: float | tp.Sequence[float], unit: str) -> None:
        check_unit('ManualScheduleTrigger', unit)
        self.points: list[float] = list(points) if isinstance(points, tp.Iterable) else [points]
        for point in self.points:
            if not isinstance(point, numbers.Real):
                raise TypeError(f'ManualScheduleTrigger: points must be numbers, not {points!r}')
        self.unit = unit
        self.finished = False
        self._previous_iteration: int = 0
        self._previous_epoch_detail: float = 0.0

    def __call__(self, trainer: Trainer) -> bool:
        """Whether to fire.

        Args:
            trainer (Trainer): Whose updater counts.

        Returns:
            bool: Whether a point has passed since the last call.
        """
        updater = trainer.updater
        now: float
        before: float
        if self.unit == 'epoch':
            now, before = updater.epoch_detail, self._previous_epoch_detail
            if before < 0:
                before = updater.previous_epoch_detail or 0
        else:
            now, before = updater.iteration, self._previous_iteration
            if before < 0:
                before = now - 1
        fire = any(before < point <= now for point in self.points)
        self.finished = all(point <= now for point in self.points)
        self._previous_iteration = updater.iteration
        self._previous_epoch_detail = updater.epoch_detail
        return fire

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads when it was asked last.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        serialize_progress(self, serializer)
        # Without it, nothing is lost: the next call finds it out.
        self.finished = bool(serialize_optional(serializer, 'finished', self.finished))
