"""Distributions of which the logarithm is normal."""

from __future__ import annotations

import math
import typing as tp

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions import utils
from chainer.distributions._parametric import Parametric
from chainer.distributions.normal import Normal

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, VariableOrNumber


class LogNormal(Parametric):
    """Distributions of ``exp(x)``, where ``x`` is normally distributed.

    Args:
        mu (Variable, array or float): The mean of ``x``; any shape, any float dtype.
        sigma (Variable, array or float): The standard deviation of ``x``, >= 0; broadcasts with
            ``mu``.

    Attributes:
        mu, sigma (Variable): The parameters. Samples are differentiable in them.
    """

    domains: tp.ClassVar = {'mu': 'real', 'sigma': 'scale'}
    mu: variable.Variable
    sigma: variable.Variable

    def __init__(self, mu: VariableOrNumber, sigma: VariableOrNumber) -> None:
        self._set_params(mu=mu, sigma=sigma)

    @property
    def _normal(self) -> Normal:
        return Normal(self.mu, self.sigma)

    @property
    def support(self) -> str:
        return 'positive'

    def _sample(self, n: int) -> variable.Variable:
        return F.exp(self._normal._sample(n))

    def _log(self, x: VariableOrNumber) -> tuple[NdArray, variable.Variable]:
        """Where ``x`` is above 0, and its logarithm there."""
        x = self._point(x)
        inside = ~(x.array <= 0)
        return inside, F.log(utils.choose(inside, x, 1))

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        inside, log_x = self._log(x)
        return utils.choose(inside, self._normal.log_prob(log_x) - log_x, -math.inf)

    def cdf(self, x: VariableOrNumber) -> variable.Variable:
        inside, log_x = self._log(x)
        return utils.choose(inside, self._normal.cdf(log_x), 0)

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        inside, log_x = self._log(x)
        return utils.choose(inside, self._normal.survival_function(log_x), 1)

    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        inside, log_x = self._log(x)
        return utils.choose(inside, self._normal.log_cdf(log_x), -math.inf)

    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        inside, log_x = self._log(x)
        return utils.choose(inside, self._normal.log_survival_function(log_x), 0)

    def icdf(self, x: VariableOrNumber) -> variable.Variable:
        return F.exp(self._normal.icdf(self._point(x)))

    @property
    def entropy(self) -> variable.Variable:
        return self._normal.entropy + self.mu

    @property
    def mean(self) -> variable.Variable:
        return F.exp(self.mu + F.square(self.sigma) * 0.5)

    @property
    def mode(self) -> variable.Variable:
        return F.exp(self.mu - F.square(self.sigma))

    @property
    def median(self) -> variable.Variable:
        return F.exp(self.mu)

    @property
    def variance(self) -> variable.Variable:
        square = F.square(self.sigma)
        return F.exp(2 * self.mu + square) * F.expm1(square)


@distribution.register_kl(LogNormal, LogNormal)
def _kl_log_normal_log_normal(dist1: LogNormal, dist2: LogNormal) -> variable.Variable:
    return distribution.kl_divergence(dist1._normal, dist2._normal)
