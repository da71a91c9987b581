"""`BlackOut`: a softmax over sampled classes."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer.functions.loss.black_out import black_out
from chainer.link import Link
from chainer.links.loss._counts import to_counts
from chainer.utils.walker_alias import WalkerAlias
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, VariableLike
    from chainer.device_resident import DeviceResidentsVisitor


class BlackOut(Link):
    """The BlackOut loss with its weights; see `chainer.functions.black_out`.

    Args:
        in_size: Features of the input.
        counts: How often each class occurs: the distribution of the samples.
        sample_size: Classes that are sampled per row.

    Attributes:
        W (Parameter): ``(classes, in_size)``. At first NaN: set it, or load it.
        sampler (WalkerAlias): The sampler of classes.
        sample_size (int): As given.
        sample_data (array): Classes to take instead of drawing some, for tests; or None.
    """

    sample_data: NdArray | None = None

    def __init__(self, in_size: int, counts: tp.Sequence[int], sample_size: int) -> None:
        if sample_size < 0:
            raise ValueError(f'BlackOut: sample_size is {sample_size}, expected at least 0')
        super().__init__()
        self.sampler = WalkerAlias(to_counts('BlackOut', counts, np.float32))
        self.sample_size = sample_size
        with self.init_scope():
            self.W = Parameter(shape=(len(counts), in_size))

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        super().device_resident_accept(visitor)
        self.sampler.device_resident_accept(visitor)

    def forward(self, x: VariableLike, t: VariableLike) -> Variable:
        """The mean loss.

        Args:
            x (Variable or array): (N, in_size).
            t (Variable or array): (N,), integers: the right classes.

        Returns:
            Variable: 0-d.
        """
        samples = self.sample_data
        if samples is None:
            samples = self.sampler.sample((len(x), self.sample_size))
        return black_out(x, t, self.W, samples)
