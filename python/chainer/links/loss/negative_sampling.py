"""`NegativeSampling`: the loss of word2vec."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer._base import environment
from chainer.functions.loss.negative_sampling import negative_sampling
from chainer.link import Link
from chainer.links.loss._counts import to_counts
from chainer.utils.walker_alias import WalkerAlias
from chainer.variable import Parameter

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, VariableLike
    from chainer.device_resident import DeviceResidentsVisitor


class NegativeSampling(Link):
    """Negative sampling with its weights; see `chainer.functions.negative_sampling`.

    Args:
        in_size: Features of the input.
        counts: How often each class occurs.
        sample_size: Classes that are sampled per row.
        power: Classes are sampled with probabilities like ``count ** power``.
        dtype: That of the probabilities, while they are computed.

    Attributes:
        W (Parameter): ``(classes, in_size)``, 0 at first.
        sampler (WalkerAlias): The sampler of classes.
        sample_size (int): As given.
    """

    def __init__(
        self,
        in_size: int,
        counts: tp.Sequence[int],
        sample_size: int,
        power: float = 0.75,
        dtype: DTypeLike | None = None,
    ) -> None:
        if sample_size < 0:
            raise ValueError(f'NegativeSampling: sample_size is {sample_size}, expected at least 0')
        super().__init__()
        dtype = environment.get_dtype(dtype, map_mixed16=np.float32)
        self.sample_size = sample_size
        self.sampler = WalkerAlias(
            np.power(to_counts('NegativeSampling', counts, dtype), dtype.type(power))
        )
        with self.init_scope():
            self.W = Parameter(0, (len(counts), in_size))

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        super().device_resident_accept(visitor)
        self.sampler.device_resident_accept(visitor)

    def forward(
        self, x: VariableLike, t: VariableLike, reduce: str = 'sum', *, return_samples: bool = False
    ) -> tp.Any:
        """The loss.

        Args:
            x (Variable or array): (N, in_size).
            t (Variable or array): (N,), integers: the right classes; the loss of -1 is 0.
            reduce (str): 'sum', or 'no'.
            return_samples (bool): Whether the classes that were drawn are returned, too.

        Returns:
            Variable: 0-d, or (N,); or a tuple of it and an array.
        """
        return negative_sampling(
            x,
            t,
            self.W,
            self.sampler.sample,
            self.sample_size,
            reduce,
            return_samples=return_samples,
        )
