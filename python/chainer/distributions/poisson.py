"""Poisson distributions."""

from __future__ import annotations

import math
import typing as tp

import numpy as np

from chainer import configuration, distribution, variable
from chainer import functions as F
from chainer.distributions import _discrete, _incomplete, utils
from chainer.distributions._parametric import Parametric

if tp.TYPE_CHECKING:
    from chainer._typing import VariableOrNumber


class Poisson(Parametric):
    """Poisson distributions.

    Args:
        lam (Variable, array or float): The mean, >= 0; any shape, any float dtype.

    Attributes:
        lam (Variable): The parameter. Samples are not differentiable in it.
    """

    domains: tp.ClassVar = {'lam': 'count'}
    lam: variable.Variable

    def __init__(self, lam: VariableOrNumber) -> None:
        self._set_params(lam=lam)

    @property
    def support(self) -> str:
        return 'non negative integer'

    def _sample(self, n: int) -> variable.Variable:
        return self._leaf(self._source.poisson(self.lam, self._shape(n)))

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        inside = ~(x.array < 0)
        # That of the time of the next event, at the mean.
        value = _incomplete.call('log_gamma_density', utils.choose(inside, x, 0) + 1, self.lam)
        return utils.choose(inside, value, -math.inf)

    def cdf(self, x: VariableOrNumber) -> variable.Variable:
        return self._tail('gammaincc', x, 0)

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return self._tail('gammainc', x, 1)

    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        return self._tail('log_gammaincc', x, -math.inf)

    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return self._tail('log_gammainc', x, 0)

    def _tail(self, name: str, x: VariableOrNumber, below: float) -> variable.Variable:
        """By the gamma distribution of the time until the next event; ``below`` 0, constant."""
        x = self._point(x)
        inside = ~(x.array < 0)
        count = F.floor(utils.choose(inside, x, 0)).array + 1  # a step has no slope
        return utils.choose(inside, _incomplete.call(name, utils.constant(count), self.lam), below)

    def icdf(self, x: VariableOrNumber) -> variable.Variable:
        with configuration.using_config('enable_backprop', False):  # a step has no slope
            level, lam = F.broadcast(utils.level(self._point(x)), self.lam)
            # Beyond 40 standard deviations there is less than the smallest number of float64 on the
            # left, on the right, where few events leave more, less than of 1 can be told.
            off = 40 * F.sqrt(lam)
            below = F.floor(F.relu(lam - off)) - 1
            above = F.minimum(F.ceil(lam + off + 60), self._full(np.finfo(lam.dtype).max))
            value = _discrete.search(self.cdf, level, below, above)
            value = utils.choose(level.array > 0, value, 0)
            value = utils.choose((level.array < 1) | (lam.array == 0), value, math.inf)
            return utils.or_nan(level, value)

    @property
    def mean(self) -> variable.Variable:
        return self.lam

    @property
    def mode(self) -> variable.Variable:
        return F.floor(self.lam)

    @property
    def variance(self) -> variable.Variable:
        return self.lam


@distribution.register_kl(Poisson, Poisson)
def _kl_poisson_poisson(dist1: Poisson, dist2: Poisson) -> variable.Variable:
    lam1, lam2 = dist1.lam, dist2.lam
    return utils.xlogy(lam1, lam1) - utils.xlogy(lam1, lam2) - lam1 + lam2
