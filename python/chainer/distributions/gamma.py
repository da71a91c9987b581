"""Gamma distributions."""

from __future__ import annotations

import math
import typing as tp

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions import _incomplete, utils
from chainer.distributions._parametric import Parametric

if tp.TYPE_CHECKING:
    from chainer._typing import VariableOrNumber


class Gamma(Parametric):
    """Gamma distributions.

    Args:
        k (Variable, array or float): The exponent, > 0; any shape, any float dtype.
        theta (Variable, array or float): The scale, > 0; broadcasts with ``k``.

    Attributes:
        k, theta (Variable): The parameters. Samples are differentiable in ``theta`` only.
    """

    domains: tp.ClassVar = {'k': 'positive', 'theta': 'positive'}
    k: variable.Variable
    theta: variable.Variable

    def __init__(self, k: VariableOrNumber, theta: VariableOrNumber) -> None:
        self._set_params(k=k, theta=theta)

    @property
    def support(self) -> str:
        return 'positive'

    def _sample(self, n: int) -> variable.Variable:
        return self.theta * self._source.gamma(self.k, self._shape(n))

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        inside = ~(x.array < 0)
        x = utils.choose(inside, x, 1)
        value = _incomplete.call('log_gamma_density', self.k, x / self.theta)
        return utils.choose(inside, value - F.log(self.theta), -math.inf)

    def cdf(self, x: VariableOrNumber) -> variable.Variable:
        return _incomplete.of_gamma('gammainc', self.k, self._point(x) / self.theta)

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return _incomplete.of_gamma('gammaincc', self.k, self._point(x) / self.theta)

    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        return _incomplete.of_gamma('log_gammainc', self.k, self._point(x) / self.theta)

    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return _incomplete.of_gamma('log_gammaincc', self.k, self._point(x) / self.theta)

    def icdf(self, x: VariableOrNumber) -> variable.Variable:
        level = utils.level(self._point(x))
        return _incomplete.call('gammaincinv', self.k, level) * self.theta

    @property
    def entropy(self) -> variable.Variable:
        return utils.gamma_entropy(self.k) + F.log(self.theta)

    @property
    def mean(self) -> variable.Variable:
        return self.k * self.theta

    @property
    def mode(self) -> variable.Variable:
        return F.relu(self.k - 1) * self.theta

    @property
    def variance(self) -> variable.Variable:
        return self.k * F.square(self.theta)


@distribution.register_kl(Gamma, Gamma)
def _kl_gamma_gamma(dist1: Gamma, dist2: Gamma) -> variable.Variable:
    k1, k2 = dist1.k, dist2.k
    ratio = dist1.theta / dist2.theta
    return (
        (k1 - k2) * F.digamma(k1)
        + (F.lgamma(k2) - F.lgamma(k1))
        - k2 * F.log(ratio)
        + k1 * (ratio - 1)
    )
