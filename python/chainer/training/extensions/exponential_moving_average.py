"""A slow copy of a model."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer import backend
from chainer.link import Link
from chainer.serializer import AbstractSerializer, Deserializer
from chainer.training import extension
from chainer.training._state import serialize_optional

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray
    from chainer.training.trainer import Trainer
    from chainer.variable import Parameter


class ExponentialMovingAverage(extension.Extension):
    """Keeps an average of the weights of a model, in which older ones count less and less.

    After each call ``average += (1 - decay) * (weight - average)``. In the first calls the decay is
    smaller, ``(1 + t) / (10 + t)``, so that the start is soon forgotten. Values that are not
    weights, such as running means of batch normalization, are copied. Averages of weights of 16
    bits are kept in float32 besides.

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
        # Master copies of 16-bit weights, which cannot hold the change of a small step.
        self._wide: dict[str, NdArray] = {}
        self.model = link.copy(mode='copy')

    def __call__(self, trainer: Trainer) -> None:
        """Takes in the weights.

        Args:
            trainer (Trainer): The caller.
        """
        if self.model.device != self._source.device:
            self.model.to_device(self._source.device)
        self._t += 1
        decay = min(self._decay, (1 + self._t) / (10 + self._t))
        old = {path: param.array.copy() for path, param in self._params()}
        self.model.copyparams(self._source)
        for path, param in self._params():
            if path in old:  # else it was initialized since, and begins as a copy
                with backend.using_device(param.device):
                    new = param.array
                    new[...] = self._average(path, old[path], new, 1 - decay)

    def _params(self) -> tp.Iterator[tuple[str, Parameter]]:
        """The weights of the slow copy, each once, though links may share it."""
        seen = set()
        for path, param in self.model.namedparams(include_uninit=False):
            if id(param) not in seen:
                seen.add(id(param))
                yield path, param

    def _average(self, path: str, old: tp.Any, new: tp.Any, share: float) -> tp.Any:
        if not _is_short(new.dtype):
            return old + (new - old) * new.dtype.type(share)
        device = backend.get_device_from_array(new)
        known, wide = old.astype(np.float32), self._wide.get(path)
        if wide is not None:
            wide = device.send(wide)
            # Values that other code has written to the slow copy since then count.
            known = device.xp.where(wide.astype(old.dtype) == old, wide, known)
        self._wide[path] = known + (new.astype(np.float32) - known) * np.float32(share)
        return self._wide[path].astype(old.dtype)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the average.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        self._t = int(serializer('_t', self._t))
        self.model.serialize(serializer['model'])
        wide = serializer['wide']
        if not isinstance(serializer, Deserializer):
            for path, value in self._wide.items():
                wide(path.lstrip('/'), value)
            return
        self._wide = {}
        for path, param in self._params():
            if _is_short(param.dtype):
                value = serialize_optional(wide, path.lstrip('/'), None)
                if value is not None:
                    self._wide[path] = value


def _is_short(dtype: np.dtype) -> bool:
    return dtype.itemsize == 2 and dtype.kind in 'fV'
