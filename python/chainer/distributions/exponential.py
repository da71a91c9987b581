"""Exponential distributions."""

from __future__ import annotations

import math
import typing as tp

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions import utils
from chainer.distributions._parametric import Parametric

if tp.TYPE_CHECKING:
    from chainer._typing import VariableOrNumber


class Exponential(Parametric):
    """Exponential distributions.

    Args:
        lam (Variable, array or float): The rate, > 0; any shape, any float dtype.

    Attributes:
        lam (Variable): The parameter. Samples are differentiable in it.
    """

    domains: tp.ClassVar = {'lam': 'positive'}
    lam: variable.Variable

    def __init__(self, lam: VariableOrNumber) -> None:
        self._set_params(lam=lam)

    @property
    def support(self) -> str:
        return 'positive'

    def _sample(self, n: int) -> variable.Variable:
        return variable.as_variable(self._source.exponential(self._shape(n))) / self.lam

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        return utils.choose(~(x.array < 0), F.log(self.lam) - self.lam * x, -math.inf)

    def _negative_log_survival(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        return self.lam * utils.choose(~(x.array < 0), x, 0)

    def cdf(self, x: VariableOrNumber) -> variable.Variable:
        return utils.one_minus_exp(-self._negative_log_survival(x))

    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        return utils.log1mexp(-self._negative_log_survival(x))

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return F.exp(-self._negative_log_survival(x))

    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return -self._negative_log_survival(x)

    def icdf(self, x: VariableOrNumber) -> variable.Variable:
        return -utils.log1m(utils.level(self._point(x))) / self.lam

    @property
    def entropy(self) -> variable.Variable:
        return 1 - F.log(self.lam)

    @property
    def mean(self) -> variable.Variable:
        return 1 / self.lam

    @property
    def stddev(self) -> variable.Variable:
        return 1 / self.lam

    @property
    def mode(self) -> variable.Variable:
        return self._full(0)

    @property
    def variance(self) -> variable.Variable:
        return 1 / F.square(self.lam)


@distribution.register_kl(Exponential, Exponential)
def _kl_exponential_exponential(dist1: Exponential, dist2: Exponential) -> variable.Variable:
    return F.log(dist1.lam) - F.log(dist2.lam) + dist2.lam / dist1.lam - 1
