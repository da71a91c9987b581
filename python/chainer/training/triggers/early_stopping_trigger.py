"""A stop trigger for trainings that get no better."""

from __future__ import annotations

import operator
import typing as tp
import warnings

from chainer import reporter
from chainer.training._state import serialize_new, serialize_number
from chainer.training._trigger import get_trigger
from chainer.training.extension import refuse

if tp.TYPE_CHECKING:
    from chainer._typing import TriggerLike
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class EarlyStoppingTrigger:
    """Fires when an observed value has not become better for some checks.

    It is meant for the stop trigger of a trainer.

    Args:
        check_trigger: When the mean of the value is compared with the best one; what
            `get_trigger` takes.
        monitor (str): Name of the value in the observation.
        patience (int): How many checks without a better value are enough to fire; default: 3.
        mode (str): ``'min'`` or ``'max'``, which is better; ``'auto'`` takes ``'max'`` for a name
            that ends with ``accuracy``.
        verbose (bool): Whether to print messages.
        max_trigger: When to fire in any case.
        **kwargs: ``patients``, the old name of ``patience``.

    Raises:
        ValueError: For another mode, and for a patience that is less than 1.
    """

    def __init__(
        self,
        check_trigger: TriggerLike = (1, 'epoch'),
        monitor: str = 'main/loss',
        patience: int | None = None,
        mode: str = 'auto',
        verbose: bool = False,
        max_trigger: TriggerLike = (100, 'epoch'),
        **kwargs: tp.Any,
    ) -> None:
        if patience is None:
            patience = kwargs.pop('patients', 3)
        refuse('EarlyStoppingTrigger', kwargs)
        if mode not in ('auto', 'min', 'max'):
            raise ValueError(
                f"EarlyStoppingTrigger: mode must be 'auto', 'min' or 'max', not {mode!r}"
            )
        if patience < 1:
            raise ValueError(f'EarlyStoppingTrigger: patience must be at least 1, not {patience}')
        self.count = 0
        self.patience = patience
        self.monitor = monitor
        self.verbose = verbose
        self.already_warning = False
        self._max_trigger = get_trigger(max_trigger)
        self._interval_trigger = get_trigger(check_trigger)
        self._init_summary()
        is_max = mode == 'max' or (mode == 'auto' and monitor.endswith('accuracy'))
        self._compare: tp.Callable[[float, float], bool] = operator.gt if is_max else operator.lt
        self.best = -float('inf') if is_max else float('inf')
        if verbose:
            print(f'early stopping: operator is {"greater" if is_max else "less"}')

    def __call__(self, trainer: Trainer) -> bool:
        """Whether to fire.

        Args:
            trainer (Trainer): Whose observation is looked at.

        Returns:
            bool: Whether training should stop.
        """
        observation = trainer.observation
        if self.monitor in observation:
            self._summary.add({self.monitor: observation[self.monitor]})
        if self._max_trigger(trainer):
            return True
        if not self._interval_trigger(trainer):
            return False
        means = self._summary.compute_mean()
        if self.monitor not in means:
            if not self.already_warning and observation:
                warnings.warn(
                    f'EarlyStoppingTrigger: {self.monitor!r} was not observed since the last '
                    f'check; the observation has {", ".join(map(repr, observation))}',
                    stacklevel=2,
                )
                self.already_warning = True
            return False
        current = float(means[self.monitor])
        self._init_summary()
        if self._compare(current, self.best):
            self.best = current
            self.count = 0
        else:
            self.count += 1
        if self.count < self.patience:
            return False
        if self.verbose:
            print(f'Epoch {trainer.updater.epoch}, early stopped')
        return True

    def _init_summary(self) -> None:
        self._summary = reporter.DictSummary()

    def get_training_length(self) -> tuple[float, str] | None:
        """How long training takes at most: that of ``max_trigger``, None if it does not tell."""
        length = getattr(self._max_trigger, 'get_training_length', None)
        return None if length is None else length()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the best value and how long it has been so.

        Snapshots of Chainer v7 have none of it; then all begins anew.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        serialize_new(serializer, 'state', _State(self))


class _State:
    """The saved state of an early stopping trigger."""

    def __init__(self, trigger: EarlyStoppingTrigger) -> None:
        self._trigger = trigger

    def serialize(self, serializer: AbstractSerializer) -> None:
        owner = self._trigger
        for key, trigger in (
            ('interval_trigger', owner._interval_trigger),
            ('max_trigger', owner._max_trigger),
        ):
            if hasattr(trigger, 'serialize'):
                trigger.serialize(serializer[key])
        owner._summary.serialize(serializer['summary'])
        owner.count = int(serializer('count', owner.count))
        owner.best = serialize_number(serializer, 'best', owner.best)
