"""Gumbel distributions."""

from __future__ import annotations

import math
import typing as tp

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions._draws import Source
from chainer.distributions._location_scale import LocationScale
from chainer.distributions.utils import EULER


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
    def _draw(source: Source, shape: tuple[int, ...]) -> tp.Any:
        return source.gumbel(shape)

    @staticmethod
    def _standard_log_prob(z: variable.Variable) -> variable.Variable:
        return -(z + F.exp(-z))

    @staticmethod
    def _standard_cdf(z: variable.Variable) -> variable.Variable:
        return F.exp(-F.exp(-z))

    @staticmethod
    def _standard_icdf(p: variable.Variable) -> variable.Variable:
        return -F.log(-F.log(p))

    def log_cdf(self, x: tp.Any) -> variable.Variable:
        return -F.exp(-self._z(x))

    def survival_function(self, x: tp.Any) -> variable.Variable:
        return -F.expm1(-F.exp(-self._z(x)))


@distribution.register_kl(Gumbel, Gumbel)
def _kl_gumbel_gumbel(dist1: Gumbel, dist2: Gumbel) -> variable.Variable:
    ratio = dist1.scale / dist2.scale
    shift = (dist1.loc - dist2.loc) / dist2.scale
    return EULER * (ratio - 1) + shift + F.exp(F.lgamma(ratio + 1) - shift) - F.log(ratio) - 1
