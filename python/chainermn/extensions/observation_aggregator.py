"""`ObservationAggregator`."""

from __future__ import annotations

import itertools
import typing as tp

import numpy as np
from chainer.training import extension
from chainer.training._state import serialize_new
from chainer.training._trigger import get_trigger

from chainermn.extensions._numbers import to_number

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, TriggerLike
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer

    from chainermn.communicators.communicator_base import CommunicatorBase


class ObservationAggregator(extension.Extension):
    """Adds to the observation of each process a value from those of all.

    Args:
        comm (CommunicatorBase): Connects the processes, which must all have the extension.
        original_key (str): Name of the value.
        aggregated_key (str): Name of the result; default: the same with ``_aggregated`` behind.
        comm_trigger: When values, collected since the last time, are exchanged; what `get_trigger`
            takes.
        aggregator (callable): Makes the result of a list that has for each rank the list of its
            values; default: the mean of all.
    """

    trigger = (1, 'iteration')
    priority = extension.PRIORITY_EDITOR

    def __init__(
        self,
        comm: CommunicatorBase,
        original_key: str,
        aggregated_key: str | None = None,
        *,
        comm_trigger: TriggerLike = (1, 'iteration'),
        aggregator: AnyCallable | None = None,
    ) -> None:
        self.comm = comm
        self.original_key = original_key
        self.aggregated_key = aggregated_key or f'{original_key}_aggregated'
        self.comm_trigger = get_trigger(comm_trigger)
        self.aggregator = aggregator or _mean
        self._values: list[tp.Any] = []

    def __call__(self, trainer: Trainer) -> None:
        """Collects the value; if it is time, exchanges all and reports the result.

        Args:
            trainer (Trainer): The caller.
        """
        if self.original_key in trainer.observation:
            self._values.append(to_number(trainer.observation[self.original_key]))
        if not self.comm_trigger(trainer):
            return
        everyone = self.comm.allreduce_obj([self._values])
        self._values = []
        if any(everyone):
            trainer.observation[self.aggregated_key] = self.aggregator(everyone)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the values that were not exchanged yet.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        serialize_new(serializer, 'state', _State(self))


class _State:
    def __init__(self, owner: ObservationAggregator) -> None:
        self._owner = owner

    def serialize(self, serializer: AbstractSerializer) -> None:
        owner = self._owner
        owner._values = list(serializer('values', np.array(owner._values, np.float64)))
        if hasattr(owner.comm_trigger, 'serialize'):
            owner.comm_trigger.serialize(serializer['comm_trigger'])


def _mean(everyone: list[list[tp.Any]]) -> tp.Any:
    return np.mean(list(itertools.chain.from_iterable(everyone)))
