"""Gumbel distributions."""

from __future__ import annotations

import math
import typing as tp

import numpy as np

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions import utils
from chainer.distributions._draws import Source
from chainer.distributions._location_scale import LocationScale
from chainer.distributions.utils import EULER

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, VariableOrNumber


def _fall(z: variable.Variable) -> variable.Variable:
    """``exp(-z)`` up to where the exponential of its negative is 0: above, 0 meets infinity."""
    return F.exp(-utils.choose(~(z.array < -10), z, -10))


class Gumbel(LocationScale):
    """Gumbel distributions: those of the largest of many.

    Args:
        loc (Variable, array or float): The mode; any shape, any float dtype.
        scale (Variable, array or float): Finite and >= 0; broadcasts with ``loc``.

    Attributes:
        loc, scale (Variable): The parameters. Samples are differentiable in them.
    """

    _mean = EULER
    _variance = math.pi**2 / 6
    _entropy = EULER + 1

    @staticmethod
    def _draw(source: Source, shape: tuple[int, ...]) -> NdArray:
        return source.gumbel(shape)

    @staticmethod
    def _standard_log_prob(z: variable.Variable) -> variable.Variable:
        # Beyond, where the density vanishes, its slope would be 0 times infinity.
        inside = ~(z.array < -math.log(np.finfo(z.dtype).max))
        z = utils.choose(inside, z, 0)
        return utils.choose(inside, -(z + F.exp(-z)), -math.inf)

    @staticmethod
    def _standard_cdf(z: variable.Variable) -> variable.Variable:
        return F.exp(-_fall(z))

    @staticmethod
    def _standard_icdf(p: variable.Variable) -> variable.Variable:
        return -F.log(-F.log(p))

    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        return -F.exp(-self._z(x))

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return utils.one_minus_exp(-_fall(self._z(x)))

    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        z = self._z(x)
        # There the survival probability is exp(-z), to all digits.
        far = z.array > -math.log(np.finfo(z.dtype).eps)
        return F.where(far, -z, utils.log1mexp(-_fall(utils.choose(~far, z, 0))))


@distribution.register_kl(Gumbel, Gumbel)
def _kl_gumbel_gumbel(dist1: Gumbel, dist2: Gumbel) -> variable.Variable:
    ratio = dist1.scale / dist2.scale
    shift = (dist1.loc - dist2.loc) / dist2.scale
    return EULER * (ratio - 1) + shift + F.exp(F.lgamma(ratio + 1) - shift) - F.log(ratio) - 1
