"""Base class of extensions that change an attribute of an optimizer."""

from __future__ import annotations

import typing as tp

from chainer.training import extension
from chainer.training._state import serialize_number

if tp.TYPE_CHECKING:
    from chainer.optimizer import Optimizer
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class Shift(extension.Extension):
    """Base of extensions that set an attribute of an optimizer by how often they were called.

    A subclass has `value_at`. In a resumed training, the value is that of the snapshot.
    """

    _init: float | None = None
    _target: float | None = None

    def __init__(self, attr: str, optimizer: Optimizer | None) -> None:
        self._attr = attr
        self._optimizer = optimizer
        self._t = 0
        self._last_value: float | None = None

    def value_at(self, t: int) -> float:
        """The value after ``t`` calls."""
        raise NotImplementedError

    def initialize(self, trainer: Trainer) -> None:
        """Sets the first value, or the last one of a training that is resumed.

        Args:
            trainer (Trainer): The caller.

        Raises:
            AttributeError: If no first value was given, and the optimizer has none.
        """
        optimizer = self._get_optimizer(trainer)
        if self._init is None:
            self._init = getattr(optimizer, self._attr)
        if self._last_value is not None:
            self._set(optimizer, self._last_value)
        else:
            self._set(optimizer, self._first_value())

    def __call__(self, trainer: Trainer) -> None:
        """Sets the next value.

        Args:
            trainer (Trainer): The caller.
        """
        self._t += 1
        self._set(self._get_optimizer(trainer), self._limited(self.value_at(self._t)))

    def _first_value(self) -> float:
        return tp.cast(float, self._init)

    def _limited(self, value: float) -> float:
        """Not past the target, which is on one side of the first value."""
        if self._target is None:
            return value
        if self._target >= tp.cast(float, self._init):
            return min(value, self._target)
        return max(value, self._target)

    def _get_optimizer(self, trainer: Trainer) -> Optimizer:
        return self._optimizer or trainer.updater.get_optimizer('main')

    def _set(self, optimizer: Optimizer, value: float) -> None:
        setattr(optimizer, self._attr, value)
        self._last_value = value

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads how often it was called, and the last value.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        self._t = int(serializer('_t', self._t))
        self._last_value = serialize_number(serializer, '_last_value', self._last_value)


class _RecomputedShift(Shift):
    """The same for those of which Chainer v7 does not save the last value."""

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads how often it was called.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        from chainer.serializer import Deserializer

        self._t = int(serializer('_t', self._t))
        if isinstance(serializer, Deserializer) and self._t:
            self._last_value = self.value_at(self._t)
