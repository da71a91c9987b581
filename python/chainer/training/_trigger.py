"""Conversion of trigger arguments, and the trigger of regular intervals."""

from __future__ import annotations

import numbers
import typing as tp
import warnings

if tp.TYPE_CHECKING:
    from chainer._typing import TriggerLike
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer

UNITS: tp.Final = ('epoch', 'iteration')


def check_unit(name: str, unit: object) -> None:
    """Raises ValueError for a unit that is none."""
    if unit not in UNITS:
        raise ValueError(
            f"{name}: Trigger unit must be either 'epoch' or 'iteration'. Actual: {unit!r}"
        )


class IntervalTrigger:
    """Fires each time that a number of epochs or iterations has passed.

    It compares with the time of its last call, so it may be called seldom: by another trigger, for
    example.

    Args:
        period (int or float): How much. A part of an epoch is fine; at infinity it never fires.
        unit (str): ``'epoch'`` or ``'iteration'``.

    Raises:
        ValueError: For another unit, and for a period that is no positive number.
    """

    def __init__(self, period: float, unit: str) -> None:
        check_unit('IntervalTrigger', unit)
        if not isinstance(period, numbers.Real) or not float(period) > 0:
            raise ValueError(f'IntervalTrigger: period must be a positive number, not {period!r}')
        self.period: float = period
        self.unit: str = unit
        self._previous_iteration: int = 0
        self._previous_epoch_detail: float = 0.0

    def __call__(self, trainer: Trainer) -> bool:
        """Whether to fire.

        Args:
            trainer (Trainer): Whose updater counts.

        Returns:
            bool: Whether a period has ended since the last call.
        """
        updater = trainer.updater
        if self.unit == 'epoch':
            now = updater.epoch_detail
            before = self._previous_epoch_detail
            if before < 0:
                # Mocks of updaters in tests say None before the first update.
                before = updater.previous_epoch_detail or 0
            self._previous_epoch_detail = now
            self._previous_iteration = updater.iteration
        else:
            now = updater.iteration
            before = self._previous_iteration
            if before < 0:
                before = now - 1
            self._previous_iteration = now
            # the most common attributes; each trigger stores no more than these
            if self.period == 1:
                return before != now
        period = self.period
        return before // period != now // period

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads when it was asked last.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        serialize_progress(self, serializer)

    def get_training_length(self) -> tuple[float, str]:
        """The period and its unit, which as a stop trigger is the length of the training."""
        return self.period, self.unit

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.period}, '{self.unit}')"

    __repr__ = __str__


def serialize_progress(trigger: TriggerLike, serializer: AbstractSerializer) -> None:
    """Saves or loads when a trigger was asked last."""
    for key in ('previous_iteration', 'previous_epoch_detail'):
        old = getattr(trigger, f'_{key}')
        try:
            loaded = serializer(key, old)
        except KeyError:
            warnings.warn(
                f'{type(trigger).__name__}: the snapshot does not say {key}, so the trigger goes '
                'on from where the updater is',
                stacklevel=3,
            )
            loaded = type(old)(-1)
        setattr(trigger, f'_{key}', type(old)(loaded))


def get_trigger(trigger: TriggerLike | None) -> tp.Any:
    """Makes a trigger of a trigger argument.

    Args:
        trigger: None, which never fires; a callable that takes a trainer and says whether to fire;
            or a period and its unit, ``(1, 'epoch')`` or ``(100, 'iteration')``.

    Returns:
        callable: The trigger.

    Raises:
        TypeError: For anything else.
        ValueError: For another unit, and for a period that is no positive number.
    """
    if trigger is None:
        return _never_fire_trigger
    if callable(trigger):
        return trigger
    if not isinstance(trigger, tuple | list) or len(trigger) != 2:
        raise TypeError(
            "a trigger is a callable, None, or a period and its unit like (1, 'epoch'), "
            f'not {trigger!r}'
        )
    return IntervalTrigger(*trigger)


def _never_fire_trigger(trainer: object) -> bool:
    return False
