"""`MultiNodeEarlyStoppingTrigger`."""

from __future__ import annotations

import typing as tp

from chainer.training.triggers import EarlyStoppingTrigger

from chainermn.extensions.observation_aggregator import ObservationAggregator

if tp.TYPE_CHECKING:
    from chainer._typing import TriggerLike
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer

    from chainermn.communicators.communicator_base import CommunicatorBase


class MultiNodeEarlyStoppingTrigger:
    """Fires in all processes when the mean of their values has not become better for some checks.

    It is meant for the stop trigger of a trainer.

    Args:
        comm (CommunicatorBase): Connects the processes.
        check_trigger: When the mean of the value is compared with the best one.
        monitor (str): Name of the value in the observations.
        patience (int): How many checks without a better value are enough to fire; default: 3.
        mode (str): ``'min'`` or ``'max'``, which is better; ``'auto'`` takes ``'max'`` for a name
            that ends with ``accuracy``.
        verbose (bool): Whether to print messages.
        max_trigger: When to fire in any case.
        suffix (str): The mean is added to the observation under the name with this behind.

    Raises:
        ValueError: For another mode, and for a patience that is less than 1.
    """

    def __init__(
        self,
        comm: CommunicatorBase,
        *,
        check_trigger: TriggerLike = (1, 'epoch'),
        monitor: str = 'main/loss',
        patience: int | None = None,
        mode: str = 'auto',
        verbose: bool = False,
        max_trigger: TriggerLike = (100, 'epoch'),
        suffix: str = '_aggregated',
    ) -> None:
        if mode == 'auto':
            mode = 'max' if monitor.endswith('accuracy') else 'min'
        self.comm = comm
        self.actual_trigger = EarlyStoppingTrigger(
            check_trigger, monitor + suffix, patience, mode, verbose, max_trigger
        )
        self.aggregator = ObservationAggregator(
            comm, monitor, monitor + suffix, comm_trigger=check_trigger
        )

    def __call__(self, trainer: Trainer) -> bool:
        """Whether to fire.

        Args:
            trainer (Trainer): Whose observation is looked at.

        Returns:
            bool: Whether training should stop.
        """
        self.aggregator(trainer)
        return self.actual_trigger(trainer)

    def get_training_length(self) -> tuple[float, str] | None:
        """How long training takes at most: that of ``max_trigger``, None if it does not tell."""
        return self.actual_trigger.get_training_length()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the best value, how long it has been so, and values since the last check.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        self.actual_trigger.serialize(serializer)
        self.aggregator.serialize(serializer['aggregator'])
