"""Hyperparameters that grow at the start of a training."""

from __future__ import annotations

import typing as tp

from chainer.training.extensions._shift import _RecomputedShift

if tp.TYPE_CHECKING:
    from chainer.optimizer import Optimizer
    from chainer.training.trainer import Trainer


class WarmupShift(_RecomputedShift):
    """Moves an attribute of an optimizer from a small value to that of the training proper.

    After ``warmup_iter`` calls it leaves the attribute alone: another extension may have it.

    Args:
        attr (str): Name of the attribute, such as ``'lr'``.
        warmup_start (float): The first value.
        warmup_iter (int): How many calls it takes. With 0, the first value stays until another
            extension sets one.
        init (float): The value that it arrives at.
        optimizer (Optimizer): Default: the main one of the updater.

    Raises:
        ValueError: If ``warmup_iter`` is negative.
    """

    def __init__(
        self,
        attr: str,
        warmup_start: float,
        warmup_iter: float,
        init: float,
        optimizer: Optimizer | None = None,
    ) -> None:
        super().__init__(attr, optimizer)
        if warmup_iter < 0:
            raise ValueError(f'WarmupShift: warmup_iter must not be negative: {warmup_iter}')
        self._warmup_start = warmup_start
        self._warmup_iter = warmup_iter
        self._init = init

    def _first_value(self) -> float:
        return self._warmup_start

    def value_at(self, t: int) -> float:
        """The value, up to the end of the warm-up.

        Args:
            t (int): The number of calls.
        """
        init = tp.cast(float, self._init)
        if t >= self._warmup_iter:
            return init
        return self._warmup_start + (init - self._warmup_start) * (t / self._warmup_iter)

    def initialize(self, trainer: Trainer) -> None:
        """Sets the first value, or that of a training that is resumed within the warm-up.

        Args:
            trainer (Trainer): The caller.
        """
        # It still sets the value at its very end; later extensions may change it afterwards.
        if self._t <= self._warmup_iter:
            super().initialize(trainer)

    def __call__(self, trainer: Trainer) -> None:
        """Sets the next value, unless the warm-up is over.

        Args:
            trainer (Trainer): The caller.
        """
        if self._t >= self._warmup_iter:
            self._t += 1
        else:
            super().__call__(trainer)
