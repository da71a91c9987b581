"""The base of updaters."""

from __future__ import annotations

import typing as tp

if tp.TYPE_CHECKING:
    from chainer.optimizer import Optimizer
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class Updater:
    """Base of updaters, which make one iteration of a training.

    A trainer also reads ``iteration``, ``epoch``, ``epoch_detail``, ``previous_epoch_detail`` and
    ``is_new_epoch``.
    """

    iteration: int

    def connect_trainer(self, trainer: Trainer) -> None:
        """Called by a trainer that is made with this updater.

        Args:
            trainer (Trainer): The caller.
        """

    def finalize(self) -> None:
        """Called once when training has ended: a place to stop iterators and workers."""

    def get_optimizer(self, name: str) -> Optimizer:
        """One of the optimizers. Overridden.

        Args:
            name (str): Its name.
        """
        raise NotImplementedError(f'{type(self).__name__}.get_optimizer is not implemented')

    def get_all_optimizers(self) -> dict[str, Optimizer]:
        """All optimizers by name. Overridden."""
        raise NotImplementedError(f'{type(self).__name__}.get_all_optimizers is not implemented')

    def update(self) -> None:
        """Does one iteration. Overridden."""
        raise NotImplementedError(f'{type(self).__name__}.update is not implemented')

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the state. Overridden.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        raise NotImplementedError(f'{type(self).__name__}.serialize is not implemented')
