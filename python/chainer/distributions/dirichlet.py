"""Dirichlet distributions."""

from __future__ import annotations

import math
import typing as tp

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions import utils
from chainer.distributions._parametric import Parametric

if tp.TYPE_CHECKING:
    from chainer._typing import VariableOrNumber


class Dirichlet(Parametric):
    """Dirichlet distributions: numbers from 0 whose sum is 1.

    Args:
        alpha (Variable or array): Concentrations, > 0; the last axis is that of an event, any
            float dtype.

    Attributes:
        alpha (Variable): The parameter. Samples are not differentiable in it.
    """

    domains: tp.ClassVar = {'alpha': 'positive'}
    event_ndims: tp.ClassVar = {'alpha': 1}
    alpha: variable.Variable

    def __init__(self, alpha: VariableOrNumber) -> None:
        self._set_params(alpha=alpha)
        if self.alpha.shape[-1] == 0:
            raise ValueError(
                f'Dirichlet: the shape of alpha is {self.alpha.shape}, expected a last axis of >= 1'
            )

    @property
    def alpha0(self) -> variable.Variable:
        """The sums of the concentrations."""
        return F.sum(self.alpha, axis=-1)

    @property
    def event_shape(self) -> tuple[int, ...]:
        return self.alpha.shape[-1:]

    @property
    def support(self) -> str:
        return '[0, 1]'

    def _sample(self, n: int) -> variable.Variable:
        return self._leaf(self._source.simplices(self.alpha, n))

    @property
    def _log_normalizer(self) -> variable.Variable:
        return F.sum(F.lgamma(self.alpha), axis=-1) - F.lgamma(self.alpha0)

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        outside = (x.array < 0) | (x.array > 1)
        value = utils.xlogy(self.alpha - 1, utils.choose(~outside, x, 0.5))
        value = F.sum(value, axis=-1) - self._log_normalizer
        return utils.choose(outside.sum(axis=-1) == 0, value, -math.inf)

    @property
    def entropy(self) -> variable.Variable:
        alpha0 = self.alpha0
        total = utils.gamma_entropy(alpha0) + (self.event_shape[0] - 1) * F.digamma(alpha0)
        return F.sum(utils.gamma_entropy(self.alpha), axis=-1) - total

    @property
    def mean(self) -> variable.Variable:
        return self.alpha / self.alpha0[..., None]

    @property
    def variance(self) -> variable.Variable:
        mean = self.mean
        return mean * (1 - mean) / (self.alpha0[..., None] + 1)


@distribution.register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(dist1: Dirichlet, dist2: Dirichlet) -> variable.Variable:
    expected = F.digamma(dist1.alpha) - F.digamma(dist1.alpha0)[..., None]
    value = F.sum((dist1.alpha - dist2.alpha) * expected, axis=-1)
    return value + dist2._log_normalizer - dist1._log_normalizer
