"""Poisson distributions."""

from __future__ import annotations

import math
import typing as tp

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions import _incomplete, utils
from chainer.distributions._parametric import Parametric


class Poisson(Parametric):
    """Poisson distributions.

    Args:
        lam (Variable, array or float): The mean, >= 0; any shape, any float dtype.

    Attributes:
        lam (Variable): The parameter. Samples are not differentiable in it.
    """

    domains: tp.ClassVar = {'lam': 'count'}
    lam: variable.Variable

    def __init__(self, lam: tp.Any) -> None:
        self._set_params(lam=lam)

    @property
    def support(self) -> str:
        return 'non negative integer'

    def _sample(self, n: int) -> variable.Variable:
        return self._leaf(self._source.poisson(self.lam, self._shape(n)))

    def log_prob(self, x: tp.Any) -> variable.Variable:
        x = self._point(x)
        inside = ~(x.array < 0)
        x = utils.choose(inside, x, 0)
        value = utils.xlogy(x, self.lam) - F.lgamma(x + 1) - self.lam
        return utils.choose(inside, value, -math.inf)

    def cdf(self, x: tp.Any) -> variable.Variable:
        return self._tail('gammaincc', x, 0)

    def survival_function(self, x: tp.Any) -> variable.Variable:
        return self._tail('gammainc', x, 1)

    def _tail(self, name: str, x: tp.Any, below: float) -> variable.Variable:
        """By the gamma distribution of the time until the next event; ``below`` 0, constant."""
        x = self._point(x)
        inside = ~(x.array < 0)
        count = F.floor(utils.choose(inside, x, 0)).array + 1  # a step has no slope
        return utils.choose(
            inside, _incomplete.call(name, variable.as_variable(count), self.lam), below
        )

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
