"""Cauchy distributions."""

from __future__ import annotations

import math
import typing as tp
import warnings

import numpy as np

from chainer import backend, distribution, variable
from chainer import functions as F
from chainer.distributions import utils
from chainer.distributions._draws import Source
from chainer.distributions._location_scale import LocationScale

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, VariableOrNumber


def _reach(z: variable.Variable) -> float:
    """Beyond it ``1 + z**2`` is ``z**2``."""
    return float(2 / math.sqrt(np.finfo(z.dtype).eps))


def _log1p_square(z: variable.Variable) -> variable.Variable:
    """``log(1 + z**2)``, also where the square overflows."""
    far = abs(z.array) > _reach(z)
    near = F.log1p(F.square(utils.choose(~far, z, 0)))
    return F.where(far, 2 * F.log(abs(utils.choose(far, z, 1))), near)


def _cauchy_cdf(z: variable.Variable) -> variable.Variable:
    """The standard distribution up to ``z``: an angle, which is small on the left."""
    with backend.using_device(z.device):
        one = z.xp.ones_like(z.array)
    return F.arctan2(one, -z) * (1 / math.pi)


def _cauchy_log_cdf(z: variable.Variable) -> variable.Variable:
    """The logarithm of `_cauchy_cdf`; far out on the left, where the slope of that is 0, by z."""
    far = z.array < -_reach(z)
    z_near = utils.choose(~far, z, 0)
    near = distribution._log_of_part(_cauchy_cdf(z_near), _cauchy_cdf(-z_near))
    return F.where(far, -F.log(-utils.choose(far, z, -math.pi)) - math.log(math.pi), near)


def _cauchy_icdf(p: variable.Variable) -> variable.Variable:
    """Quantiles of the standard distribution, by the distance of ``p`` from 0, 1/2 or 1."""
    low, high = p.array < 0.25, p.array > 0.75
    middle = F.tan((utils.choose(~(low | high), p, 0.5) - 0.5) * math.pi)
    tail = 1 / F.tan(F.where(low, p, utils.choose(high, 1 - p, 0.5)) * math.pi)
    return F.where(low, -tail, F.where(high, tail, middle))


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
    def _draw(source: Source, shape: tuple[int, ...]) -> NdArray:
        return source.cauchy(shape)

    @staticmethod
    def _standard_log_prob(z: variable.Variable) -> variable.Variable:
        return -_log1p_square(z) - math.log(math.pi)

    _standard_cdf = staticmethod(_cauchy_cdf)
    _standard_icdf = staticmethod(_cauchy_icdf)

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return _cauchy_cdf(-self._z(x))

    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        return _cauchy_log_cdf(self._z(x))

    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return _cauchy_log_cdf(-self._z(x))

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
