"""Cauchy distributions."""

from __future__ import annotations

import math
import typing as tp
import warnings

from chainer import functions as F
from chainer import variable
from chainer.distributions._draws import Source
from chainer.distributions._location_scale import LocationScale


class Cauchy(LocationScale):
    """Cauchy distributions, whose tails are so heavy that they have no mean.

    Args:
        loc (Variable, array or float): The median; any shape, any float dtype.
        scale (Variable, array or float): Half of the distance of the quartiles, >= 0; broadcasts
            with ``loc``.

    Attributes:
        loc, scale (Variable): The parameters. Samples are differentiable in them.
    """

    _entropy = math.log(4 * math.pi)

    @staticmethod
    def _draw(source: Source, shape: tuple[int, ...]) -> tp.Any:
        return source.cauchy(shape)

    @staticmethod
    def _standard_log_prob(z: variable.Variable) -> variable.Variable:
        return -F.log1p(F.square(z)) - math.log(math.pi)

    @staticmethod
    def _standard_cdf(z: variable.Variable) -> variable.Variable:
        return F.arctan(z) * (1 / math.pi) + 0.5

    @staticmethod
    def _standard_icdf(p: variable.Variable) -> variable.Variable:
        return F.tan((p - 0.5) * math.pi)

    def survival_function(self, x: tp.Any) -> variable.Variable:
        return self._standard_cdf(-self._z(x))

    def _undefined(self, what: str) -> variable.Variable:
        warnings.warn(f'{what} of a Cauchy distribution is undefined', RuntimeWarning, stacklevel=3)
        return self._full(math.nan)

    @property
    def mean(self) -> variable.Variable:
        return self._undefined('The mean')

    @property
    def variance(self) -> variable.Variable:
        return self._undefined('The variance')

    @property
    def stddev(self) -> variable.Variable:
        return self._undefined('The standard deviation')

    @property
    def median(self) -> variable.Variable:
        return self.loc
