"""Chi-squared distributions."""

from __future__ import annotations

import math
import typing as tp

from chainer import functions as F
from chainer import variable
from chainer.distributions import _incomplete, utils
from chainer.distributions._parametric import Parametric

if tp.TYPE_CHECKING:
    from chainer._typing import VariableOrNumber


class Chisquare(Parametric):
    """Distributions of the sum of ``k`` squares of standard normal numbers.

    Args:
        k (Variable, array or float): The degrees of freedom, > 0; any shape, any float dtype.

    Attributes:
        k (Variable): The parameter. Samples are not differentiable in it.
    """

    domains: tp.ClassVar = {'k': 'positive'}
    k: variable.Variable

    def __init__(self, k: VariableOrNumber) -> None:
        self._set_params(k=k)

    @property
    def support(self) -> str:
        return 'positive'

    def _sample(self, n: int) -> variable.Variable:
        return self._leaf(self._source.chisquare(self.k, self._shape(n)))

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        inside = ~(x.array < 0)
        half_x = utils.choose(inside, x, 1) * 0.5
        value = _incomplete.call('log_gamma_density', self.k * 0.5, half_x)
        return utils.choose(inside, value - math.log(2), -math.inf)

    def cdf(self, x: VariableOrNumber) -> variable.Variable:
        return _incomplete.of_gamma('gammainc', self.k * 0.5, self._point(x) * 0.5)

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return _incomplete.of_gamma('gammaincc', self.k * 0.5, self._point(x) * 0.5)

    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        return _incomplete.of_gamma('log_gammainc', self.k * 0.5, self._point(x) * 0.5)

    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return _incomplete.of_gamma('log_gammaincc', self.k * 0.5, self._point(x) * 0.5)

    def icdf(self, x: VariableOrNumber) -> variable.Variable:
        level = utils.level(self._point(x))
        return _incomplete.call('gammaincinv', self.k * 0.5, level) * 2

    @property
    def entropy(self) -> variable.Variable:
        return utils.gamma_entropy(self.k * 0.5) + math.log(2)

    @property
    def mean(self) -> variable.Variable:
        return self.k

    @property
    def mode(self) -> variable.Variable:
        return F.relu(self.k - 2)

    @property
    def variance(self) -> variable.Variable:
        return self.k * 2
