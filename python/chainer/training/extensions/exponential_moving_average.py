"""A slow copy of a model."""

from __future__ import annotations

import typing as tp

from chainer import backend
from chainer.link import Link
from chainer.training import extension

if tp.TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class ExponentialMovingAverage(extension.Extension):
    """Keeps an average of the weights of a model, in which older ones count less and less.

    After each call ``average += (1 - decay) * (weight - average)``. In the first calls the decay is
    smaller, ``(1 + t) / (10 + t)``, so that the start is soon forgotten. What is no weight, such as
    running means of batch normalization, is copied.

    Args:
        link (Link): The model that is trained.
        decay (float): How much of the old average stays, 0 to 1.

    Attributes:
        model (Link): The slow copy; give it to an `Evaluator` or save it.

    Raises:
        TypeError: If it is no link.
        ValueError: If not ``0 <= decay < 1``.
    """

    priority = extension.PRIORITY_WRITER + 1  # before it is evaluated

    def __init__(self, link: Link, decay: float = 0.999) -> None:
        if not isinstance(link, Link):
            raise TypeError(f'ExponentialMovingAverage: link must be a link, not {link!r}')
        if not 0 <= decay < 1:
            raise ValueError(f'ExponentialMovingAverage: decay must be in [0, 1), not {decay}')
        self._decay = decay
        self._t = 0
        self._source = link
        self.model = link.copy(mode='copy')

    def __call__(self, trainer: Trainer) -> None:
        """Takes in the weights.

        Args:
            trainer (Trainer): Who calls.
        """
        if self.model.device != self._source.device:
            self.model.to_device(self._source.device)
        self._t += 1
        decay = min(self._decay, (1 + self._t) / (10 + self._t))
        old = {
            path: param.array.copy() for path, param in self.model.namedparams(include_uninit=False)
        }
        self.model.copyparams(self._source)
        for path, param in self.model.namedparams(include_uninit=False):
            average = old.get(path)
            if average is None:
                continue  # it was initialized since, and begins as a copy
            with backend.using_device(param.device):
                new = param.array
                average += (new - average) * new.dtype.type(1 - decay)
                new[...] = average

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the average.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        self._t = int(serializer('_t', self._t))
        self.model.serialize(serializer['model'])
