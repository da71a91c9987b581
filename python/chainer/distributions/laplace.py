"""Laplace distributions."""

from __future__ import annotations

import math
import typing as tp

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions import utils
from chainer.distributions._draws import Source
from chainer.distributions._location_scale import LocationScale

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, VariableLike, VariableOrNumber


def _laplace_cdf(x: VariableLike) -> variable.Variable:
    """The standard distribution up to ``x``."""
    x = variable.as_variable(x)
    left = x.array < 0
    tail = F.exp(F.where(left, x, -x)) * 0.5
    return F.where(left, tail, 1 - tail)


def _laplace_log_cdf(x: variable.Variable) -> variable.Variable:
    """The logarithm of `_laplace_cdf`."""
    left = x.array < 0
    right = F.log1p(F.exp(-utils.choose(~left, x, 0)) * -0.5)
    return F.where(left, x - math.log(2), right)


def _laplace_icdf(x: VariableLike) -> variable.Variable:
    """Quantiles of the standard distribution."""
    x = variable.as_variable(x)
    low = x.array < 0.5
    # x and 1 - x are exact where they are small; the other side must stay finite.
    tail = F.log(2 * F.where(low, x, 1 - x))
    return F.where(low, tail, -tail)


class Laplace(LocationScale):
    """Laplace distributions: both sides of ``loc`` are exponential.

    Args:
        loc (Variable, array or float): The mean; any shape, any float dtype.
        scale (Variable, array or float): The mean distance from it, >= 0; broadcasts with ``loc``.

    Attributes:
        loc, scale (Variable): The parameters. Samples are differentiable in them.
    """

    _variance = 2
    _entropy = 1 + math.log(2)

    @staticmethod
    def _draw(source: Source, shape: tuple[int, ...]) -> NdArray:
        return source.laplace(shape)

    @staticmethod
    def _standard_log_prob(z: variable.Variable) -> variable.Variable:
        return -abs(z) - math.log(2)

    _standard_cdf = staticmethod(_laplace_cdf)
    _standard_icdf = staticmethod(_laplace_icdf)

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return _laplace_cdf(-self._z(x))

    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        return _laplace_log_cdf(self._z(x))

    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return _laplace_log_cdf(-self._z(x))

    @property
    def median(self) -> variable.Variable:
        return self.loc


@distribution.register_kl(Laplace, Laplace)
def _kl_laplace_laplace(dist1: Laplace, dist2: Laplace) -> variable.Variable:
    distance = abs(dist1.loc - dist2.loc)
    ratio = dist1.scale / dist2.scale
    near = ratio * F.exp(-distance / dist1.scale)
    return distance / dist2.scale + near - F.log(ratio) - 1
