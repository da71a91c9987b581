"""Normal distributions."""

from __future__ import annotations

import math
import typing as tp

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions._draws import Source
from chainer.distributions._location_scale import LocationScale
from chainer.distributions._parametric import exactly_one

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, VariableOrNumber

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class Normal(LocationScale):
    """Normal distributions.

    Args:
        loc (Variable, array or float): The mean; any shape, any float dtype.
        scale (Variable, array or float): The standard deviation, >= 0; broadcasts with ``loc``.
        log_scale (Variable, array or float): Its logarithm, instead.

    Attributes:
        loc, scale, log_scale (Variable): The parameters. Samples are differentiable in them.
    """

    _variance = 1
    _entropy = HALF_LOG_2PI + 0.5

    def __init__(
        self,
        loc: VariableOrNumber,
        scale: VariableOrNumber | None = None,
        *,
        log_scale: VariableOrNumber | None = None,
    ) -> None:
        self._given_log_scale = None
        if exactly_one('Normal', scale=scale, log_scale=log_scale) == 'log_scale':
            given = self._convert(loc=loc, log_scale=log_scale)
            self._given_log_scale = given['log_scale']
            loc, scale = given['loc'], F.exp(given['log_scale'])
        self._set_params(loc=loc, scale=scale)

    @property
    def log_scale(self) -> variable.Variable:
        """The logarithm of ``scale``."""
        return self._log_scale

    @property
    def _log_scale(self) -> variable.Variable:
        given = self._given_log_scale
        return F.log(self.scale) if given is None else given

    @staticmethod
    def _draw(source: Source, shape: tuple[int, ...]) -> NdArray:
        return source.normal(shape)

    @staticmethod
    def _standard_log_prob(z: variable.Variable) -> variable.Variable:
        return F.square(z) * -0.5 - HALF_LOG_2PI

    _standard_cdf = staticmethod(F.ndtr)
    _standard_icdf = staticmethod(F.ndtri)

    def log_cdf(self, x: VariableOrNumber) -> variable.Variable:
        return F.log_ndtr(self._z(x))

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return F.ndtr(-self._z(x))

    def log_survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return F.log_ndtr(-self._z(x))

    @property
    def stddev(self) -> variable.Variable:
        return self.scale

    @property
    def median(self) -> variable.Variable:
        return self.loc


@distribution.register_kl(Normal, Normal)
def _kl_normal_normal(dist1: Normal, dist2: Normal) -> variable.Variable:
    ratio = F.square(dist1.scale / dist2.scale)
    distance = F.square((dist1.loc - dist2.loc) / dist2.scale)
    return dist2.log_scale - dist1.log_scale + 0.5 * (ratio + distance - 1)
