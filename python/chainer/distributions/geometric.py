"""Geometric distributions."""

from __future__ import annotations

import math
import typing as tp

from chainer import configuration, distribution, variable
from chainer import functions as F
from chainer.distributions import utils
from chainer.distributions._parametric import Parametric

if tp.TYPE_CHECKING:
    from chainer._typing import VariableOrNumber


class Geometric(Parametric):
    """Distributions of the number of trials up to the first success, which counts.

    Args:
        p (Variable, array or float): The probability of success, above 0; any shape, any float
            dtype.

    Attributes:
        p (Variable): The parameter. Samples are not differentiable in it.
    """

    domains: tp.ClassVar = {'p': 'success'}
    p: variable.Variable

    def __init__(self, p: VariableOrNumber) -> None:
        self._set_params(p=p)

    @property
    def support(self) -> str:
        return 'positive integer'

    def _sample(self, n: int) -> variable.Variable:
        return self._leaf(self._source.geometric(self.p, self._shape(n)))

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        inside = ~(x.array < 1)
        failures = utils.choose(inside, x, 1) - 1
        value = utils.xlog1my(failures, self.p) + F.log(self.p)
        return utils.choose(inside, value, -math.inf)

    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        trials = F.floor(F.relu(self._point(x)))
        return utils.xlog1my(trials, self.p)

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return F.exp(self.log_survival_function(x))

    def cdf(self, x: VariableOrNumber) -> variable.Variable:
        return utils.one_minus_exp(self.log_survival_function(x))

    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        return utils.log1mexp(self.log_survival_function(x))

    def icdf(self, x: VariableOrNumber) -> variable.Variable:
        with configuration.using_config('enable_backprop', False):  # a step has no slope
            level = utils.level(self._point(x))
            certain = self.p.array == 1
            p = utils.choose(~certain, self.p, 0.5)
            value = F.ceil(utils.log1m(level) / utils.log1m(p))
            # The quotient may be rounded to the other side of a whole number.
            previous = self.cdf(value - 1).array
            value = F.where(previous >= level.array, value - 1, value)
            value = utils.choose(value.array > 1, value, 1)
            value = utils.choose(level.array < 1, value, math.inf)
            value = utils.choose(~certain, value, 1)
            return utils.or_nan(level, value)

    @property
    def entropy(self) -> variable.Variable:
        return -F.log(self.p) - utils.xlog1my(1 - self.p, self.p) / self.p

    @property
    def mean(self) -> variable.Variable:
        return 1 / self.p

    @property
    def mode(self) -> variable.Variable:
        return self._full(1)

    @property
    def variance(self) -> variable.Variable:
        return (1 - self.p) / F.square(self.p)


@distribution.register_kl(Geometric, Geometric)
def _kl_geometric_geometric(dist1: Geometric, dist2: Geometric) -> variable.Variable:
    p1, p2 = dist1.p, dist2.p
    failures = (1 - p1) / p1
    log_ratio = utils.xlog1my(failures, p1) - utils.xlog1my(failures, p2)
    return F.log(p1) - F.log(p2) + log_ratio
