"""Pareto distributions."""

from __future__ import annotations

import math
import typing as tp

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions import utils
from chainer.distributions._parametric import Parametric

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, VariableOrNumber


class Pareto(Parametric):
    """Pareto distributions: the probability above ``x`` is ``(scale / x) ** alpha``.

    Args:
        scale (Variable, array or float): The smallest value, > 0; any shape, any float dtype.
        alpha (Variable, array or float): The exponent, > 0; broadcasts with ``scale``.

    Attributes:
        scale, alpha (Variable): The parameters. Samples are differentiable in them.
    """

    domains: tp.ClassVar = {'scale': 'positive', 'alpha': 'positive'}
    scale: variable.Variable
    alpha: variable.Variable

    def __init__(self, scale: VariableOrNumber, alpha: VariableOrNumber) -> None:
        self._set_params(scale=scale, alpha=alpha)

    @property
    def support(self) -> str:
        return '[scale, inf]'

    def _sample(self, n: int) -> variable.Variable:
        # numpy.random.pareto draws expm1 of these over alpha, which has no gradient in alpha.
        noise = self._source.exponential(self._shape(n))
        return self.scale * F.exp(noise / self.alpha)

    def _log_ratio(self, x: VariableOrNumber) -> tuple[NdArray, variable.Variable]:
        """Where ``x`` is at least ``scale``, and ``log(x / scale)`` there."""
        x = self._point(x)
        inside = ~(x.array < self.scale.array)
        excess = utils.choose(inside, x - self.scale, 0)
        return inside, F.log1p(excess / self.scale)

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        inside, ratio = self._log_ratio(x)
        value = F.log(self.alpha) - F.log(self.scale) - (self.alpha + 1) * ratio
        return utils.choose(inside, value, -math.inf)

    def cdf(self, x: VariableOrNumber) -> variable.Variable:
        return utils.one_minus_exp(self.log_survival_function(x))

    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        return utils.log1mexp(self.log_survival_function(x))

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return F.exp(self.log_survival_function(x))

    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return -self.alpha * self._log_ratio(x)[1]

    def icdf(self, x: VariableOrNumber) -> variable.Variable:
        p = utils.level(self._point(x))
        return self.scale * F.exp(-utils.log1m(p) / self.alpha)

    @property
    def entropy(self) -> variable.Variable:
        return F.log(self.scale) - F.log(self.alpha) + 1 / self.alpha + 1

    @property
    def mean(self) -> variable.Variable:
        finite = self.alpha.array > 1
        alpha = utils.choose(finite, self.alpha, 2)
        return utils.choose(finite, alpha * self.scale / (alpha - 1), math.inf)

    @property
    def mode(self) -> variable.Variable:
        return self.scale

    @property
    def variance(self) -> variable.Variable:
        finite = self.alpha.array > 2
        alpha = utils.choose(finite, self.alpha, 3)
        value = F.square(self.scale / (alpha - 1)) * alpha / (alpha - 2)
        return utils.choose(finite, value, math.inf)


@distribution.register_kl(Pareto, Pareto)
def _kl_pareto_pareto(dist1: Pareto, dist2: Pareto) -> variable.Variable:
    inside = dist1.scale.array >= dist2.scale.array
    ratio = dist2.alpha / dist1.alpha
    value = dist2.alpha * F.log(dist1.scale / dist2.scale) - F.log(ratio) + ratio - 1
    return utils.choose(inside, value, math.inf)
