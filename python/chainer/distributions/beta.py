"""Beta distributions."""

from __future__ import annotations

import math
import typing as tp

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions import _incomplete, utils
from chainer.distributions._parametric import Parametric

if tp.TYPE_CHECKING:
    from chainer._typing import VariableOrNumber


class Beta(Parametric):
    """Beta distributions.

    Args:
        a, b (Variable, array or float): The exponents of ``x`` and ``1 - x``, plus 1; > 0; shapes
            that broadcast, one float dtype.

    Attributes:
        a, b (Variable): The parameters. Samples are not differentiable in them.
    """

    domains: tp.ClassVar = {'a': 'positive', 'b': 'positive'}
    a: variable.Variable
    b: variable.Variable

    def __init__(self, a: VariableOrNumber, b: VariableOrNumber) -> None:
        self._set_params(a=a, b=b)

    @property
    def support(self) -> str:
        return '[0, 1]'

    def _sample(self, n: int) -> variable.Variable:
        return self._leaf(self._source.beta(self.a, self.b, self._shape(n)))

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        inside = ~((x.array < 0) | (x.array > 1))
        x = utils.choose(inside, x, 0.5)
        value = _incomplete.call('log_beta_density', self.a, self.b, x)
        return utils.choose(inside, value, -math.inf)

    def cdf(self, x: VariableOrNumber) -> variable.Variable:
        return self._tail('betainc', x)

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return self._tail('betaincc', x)

    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        return self._tail('log_betainc', x)

    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return self._tail('log_betaincc', x)

    def _tail(self, name: str, x: VariableOrNumber) -> variable.Variable:
        return _incomplete.call(name, self.a, self.b, F.clip(self._point(x), 0.0, 1.0))

    def icdf(self, x: VariableOrNumber) -> variable.Variable:
        return _incomplete.call('betaincinv', self.a, self.b, utils.level(self._point(x)))

    @property
    def entropy(self) -> variable.Variable:
        a, b = self.a, self.b
        total = utils.gamma_entropy(a + b) + F.digamma(a + b)
        return utils.gamma_entropy(a) + utils.gamma_entropy(b) - total

    @property
    def mean(self) -> variable.Variable:
        return self.a / (self.a + self.b)

    @property
    def variance(self) -> variable.Variable:
        total = self.a + self.b
        return self.a * self.b / F.square(total) / (total + 1)


@distribution.register_kl(Beta, Beta)
def _kl_beta_beta(dist1: Beta, dist2: Beta) -> variable.Variable:
    a1, b1, a2, b2 = dist1.a, dist1.b, dist2.a, dist2.b
    return (
        (utils.lbeta(a2, b2) - utils.lbeta(a1, b1))
        + (a1 - a2) * F.digamma(a1)
        + (b1 - b2) * F.digamma(b1)
        + (a2 - a1 + b2 - b1) * F.digamma(a1 + b1)
    )
