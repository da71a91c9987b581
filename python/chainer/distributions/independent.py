"""Batches as events."""

from __future__ import annotations

import math
import typing as tp

import numpy as np

from chainer import functions as F
from chainer import types, variable
from chainer.distribution import Distribution, kl_divergence, register_kl

if tp.TYPE_CHECKING:
    from chainer._typing import VariableOrNumber


class Independent(Distribution):
    """A distribution of which the last axes of the batch belong to the event.

    Args:
        distribution (Distribution): The one of which parts of the batch become parts of an event.
        reinterpreted_batch_ndims (int): How many axes; all but the first if None.

    Attributes:
        distribution (Distribution): As given.
        reinterpreted_batch_ndims (int): The number of axes.
    """

    distribution: Distribution
    reinterpreted_batch_ndims: int

    def __init__(
        self,
        distribution: Distribution,
        reinterpreted_batch_ndims: int | None = None,
    ) -> None:
        ndim = len(distribution.batch_shape)
        if reinterpreted_batch_ndims is None:
            reinterpreted_batch_ndims = max(ndim - 1, 0)
        if not 0 <= reinterpreted_batch_ndims <= ndim:
            raise ValueError(
                f'Independent: reinterpreted_batch_ndims is {reinterpreted_batch_ndims}, expected '
                f'0 to {ndim}, as batch_shape is {distribution.batch_shape}'
            )
        self.distribution = distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def _kept(self) -> int:
        return len(self.distribution.batch_shape) - self.reinterpreted_batch_ndims

    @property
    def params(self) -> dict[str, variable.Variable]:
        return self.distribution.params

    @property
    def xp(self) -> types.Xp | None:
        return self.distribution.xp

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.distribution.batch_shape[: self._kept]

    @property
    def event_shape(self) -> tuple[int, ...]:
        return self.distribution.batch_shape[self._kept :] + self.distribution.event_shape

    @property
    def support(self) -> str:
        return self.distribution.support

    def sample_n(self, n: int) -> variable.Variable:
        return self.distribution.sample_n(n)

    def _reduce(
        self, function: tp.Callable[..., variable.Variable], x: variable.Variable
    ) -> variable.Variable:
        """Of what has one value per distribution of the batch, one per remaining batch."""
        if self.reinterpreted_batch_ndims == 0:
            return x
        return function(x, axis=tuple(range(-self.reinterpreted_batch_ndims, 0)))

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        return self._reduce(F.sum, self.distribution.log_prob(x))

    def prob(self, x: VariableOrNumber) -> variable.Variable:
        return self._reduce(F.prod, self.distribution.prob(x))

    def cdf(self, x: VariableOrNumber) -> variable.Variable:
        return self._reduce(F.prod, self.distribution.cdf(x))

    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        return self._reduce(F.sum, self.distribution.log_cdf(x))

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        """The probability that all elements are above ``x``.

        Args:
            x (Variable or array): Points.

        Returns:
            Variable: One per remaining batch. Differentiable, any order.
        """
        return self._reduce(F.prod, self.distribution.survival_function(x))

    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return self._reduce(F.sum, self.distribution.log_survival_function(x))

    def perplexity(self, x: VariableOrNumber) -> variable.Variable:
        return self._reduce(F.prod, self.distribution.perplexity(x))

    def icdf(self, x: VariableOrNumber) -> variable.Variable:
        """That of one distribution; the joint `cdf` of several has no inverse.

        Args:
            x (Variable or array): Probabilities.

        Returns:
            Variable: Quantiles. Differentiable, any order.

        Raises:
            RuntimeError: If axes of the batch belong to the event.
        """
        if self.reinterpreted_batch_ndims:
            raise RuntimeError(
                f'Independent.icdf: no inverse of the cdf of events of shape {self.event_shape}'
            )
        return self.distribution.icdf(x)

    @property
    def entropy(self) -> variable.Variable:
        return self._reduce(F.sum, self.distribution.entropy)

    @property
    def mean(self) -> variable.Variable:
        return self.distribution.mean

    @property
    def median(self) -> variable.Variable:
        """The median of each element."""
        return self.distribution.median

    @property
    def mode(self) -> variable.Variable:
        return self.distribution.mode

    @property
    def stddev(self) -> variable.Variable:
        return self.distribution.stddev

    @property
    def variance(self) -> variable.Variable:
        return self.distribution.variance

    @property
    def covariance(self) -> variable.Variable:
        """The covariances of the elements of an event, as if that were flat."""
        inner = self.distribution
        if inner.event_shape:
            blocks = inner.covariance
        else:
            variance = inner.variance
            blocks = F.reshape(variance, (*variance.shape, 1, 1))
        size = blocks.shape[-1]
        count = math.prod(self.event_shape) // max(size, 1)
        blocks = F.reshape(blocks, (*self.batch_shape, count, size, 1, size))
        eye = blocks.device.send(blocks.xp.eye(count, dtype=bool)).reshape(count, 1, count, 1)
        zero = blocks.device.send(blocks.xp.zeros((), blocks.dtype))
        return F.reshape(
            F.where(eye, blocks, zero), (*self.batch_shape, count * size, count * size)
        )


@register_kl(Independent, Independent)
def _kl_independent_independent(dist1: Independent, dist2: Independent) -> variable.Variable:
    shape1, shape2 = dist1.event_shape, dist2.event_shape
    if shape1 != shape2:
        raise ValueError(f'kl_divergence: event_shape is {shape1} and {shape2}, expected the same')
    shape1, shape2 = dist1.batch_shape, dist2.batch_shape
    try:
        np.broadcast_shapes(shape1, shape2)
    except ValueError:
        raise ValueError(
            f'kl_divergence: batch_shape is {shape1} and {shape2}, which do not broadcast'
        ) from None
    return dist1._reduce(F.sum, kl_divergence(dist1.distribution, dist2.distribution))
