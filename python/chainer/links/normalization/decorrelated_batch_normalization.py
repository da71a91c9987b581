"""`DecorrelatedBatchNormalization`: without the correlation of channels."""

from __future__ import annotations

import typing as tp
import warnings

import numpy as np

from chainer import backend
from chainer._base import environment
from chainer._graph.repeated import is_repeated
from chainer.configuration import config
from chainer.functions.normalization.decorrelated_batch_normalization import (
    decorrelated_batch_normalization,
    fixed_decorrelated_batch_normalization,
)
from chainer.link import Link
from chainer.serializer import Deserializer
from chainer.utils import argument
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, NdArray, VariableLike
    from chainer.serializer import AbstractSerializer


class DecorrelatedBatchNormalization(Link):
    """Whitens the channels of each group, with running statistics for use outside of training.

    Args:
        size: Number of channels.
        groups: Number of groups, a divisor of `size`.
        decay: How much of the running statistics stays in each step of training.
        eps: Added to variances.
        dtype: Of the statistics.

    Attributes:
        avg_mean (array): Running mean, ``(groups, size / groups)``; saved with the link, as are the
            next two.
        avg_projection (array): Running projection, ``(groups, size / groups, size / groups)``.
        N (int): Batches that were seen since fine-tuning began.
        groups (int): As given.
        decay (float): As given.
        eps (float): As given.

    Source: Huang et al., Decorrelated Batch Normalization, CVPR 2018.
    """

    avg_mean: NdArray
    avg_projection: NdArray

    def __init__(
        self,
        size: int,
        groups: int = 16,
        decay: float = 0.9,
        eps: float = 2e-5,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        c = size // groups
        dtype = environment.get_dtype(dtype, map_mixed16=np.float32)
        self.avg_mean = np.zeros((groups, c), dtype)
        self.avg_projection = np.zeros((groups, c, c), dtype)
        self.avg_projection[:] = np.eye(c)
        self.N = 0
        for name in ('avg_mean', 'avg_projection', 'N'):
            self.register_persistent(name)
        self.decay = decay
        self.eps = eps
        self.groups = groups

    def serialize(self, serializer: AbstractSerializer) -> None:
        if isinstance(serializer, Deserializer):
            serializer = _ForAllGroups(serializer)
        super().serialize(serializer)

    def forward(self, x: VariableLike, **kwargs: object) -> Variable:
        """Whiten.

        Args:
            x (Variable or array): (n, channels, ...).
            **kwargs: ``finetune``, whether in training running statistics are the mean over all
                batches since :meth:`start_finetuning`, instead of one that decays.

        Returns:
            Variable: Shape and dtype of `x`.
        """
        (finetune,) = argument.parse_kwargs(kwargs, ('finetune', False))
        if not config.train:
            return fixed_decorrelated_batch_normalization(
                x, self.avg_mean, self.avg_projection, self.groups
            )
        decay, mean, projection = self.decay, self.avg_mean, self.avg_projection
        if is_repeated():  # it has been counted
            mean = projection = None
        elif finetune:
            self.N += 1
            decay = 1 - 1 / self.N
        return decorrelated_batch_normalization(
            x,
            groups=self.groups,
            eps=self.eps,
            running_mean=mean,
            running_projection=projection,
            decay=decay,
        )

    def start_finetuning(self) -> None:
        """Make the next batch with ``finetune=True`` the first one of those that count."""
        self.N = 0


class _ForAllGroups(Deserializer):
    """Loads the statistics of snapshots from before v6, which are of one group, for each group."""

    def __init__(self, deserializer: Deserializer) -> None:
        self._deserializer = deserializer

    def __call__(self, key: str, value: object) -> tp.Any:
        if isinstance(value, environment.get_array_types()):
            stored = self._deserializer(key, None)
            if stored is not None and stored.shape == value.shape[1:]:
                if len(value) > 1:
                    warnings.warn(
                        f'DecorrelatedBatchNormalization: {key} is that of one group, from before '
                        'v6, where another algorithm learned it; now all groups have it',
                        stacklevel=2,
                    )
                repeated = np.repeat(stored[np.newaxis], len(value), axis=0)
                return backend.get_device_from_array(value).send(repeated.astype(value.dtype))
        return self._deserializer(key, value)
