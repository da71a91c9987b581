"""Distributions of ``loc + scale * z``, where ``z`` has no parameters."""

from __future__ import annotations

import math
import typing as tp

from chainer import functions as F
from chainer import variable
from chainer.distributions import utils
from chainer.distributions._draws import Source
from chainer.distributions._parametric import Parametric

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, VariableOrNumber


class LocationScale(Parametric):
    """``loc + scale * z``; a subclass says how ``z`` is distributed."""

    domains: tp.ClassVar = {'loc': 'real', 'scale': 'scale'}

    # Of z.
    _mean: tp.ClassVar[float] = 0
    _variance: tp.ClassVar[float]
    _entropy: tp.ClassVar[float]

    def __init__(self, loc: VariableOrNumber, scale: VariableOrNumber) -> None:
        self._set_params(loc=loc, scale=scale)

    @staticmethod
    def _draw(source: Source, shape: tuple[int, ...]) -> NdArray:
        raise NotImplementedError

    # Arguments by position: what a subclass names them is its matter.

    @staticmethod
    def _standard_log_prob(z: variable.Variable, /) -> variable.Variable:
        raise NotImplementedError

    @staticmethod
    def _standard_cdf(z: variable.Variable, /) -> variable.Variable:
        raise NotImplementedError

    @staticmethod
    def _standard_icdf(p: variable.Variable, /) -> variable.Variable:
        raise NotImplementedError

    # Of loc + scale * z.

    @property
    def loc(self) -> variable.Variable:
        """What is added."""
        return self._params['loc']

    @property
    def scale(self) -> variable.Variable:
        """By what is multiplied."""
        return self._params['scale']

    @property
    def support(self) -> str:
        return 'real'

    def _sample(self, n: int) -> variable.Variable:
        return self.loc + self.scale * self._draw(self._source, self._shape(n))

    def _z(self, x: VariableOrNumber) -> variable.Variable:
        return (self._point(x) - self.loc) / self.scale

    @property
    def _log_scale(self) -> variable.Variable:
        return F.log(self.scale)

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        return self._standard_log_prob(self._z(x)) - self._log_scale

    def cdf(self, x: VariableOrNumber) -> variable.Variable:
        return self._standard_cdf(self._z(x))

    def icdf(self, x: VariableOrNumber) -> variable.Variable:
        return self.loc + self.scale * self._standard_icdf(utils.level(self._point(x)))

    @property
    def entropy(self) -> variable.Variable:
        return self._log_scale + self._entropy

    @property
    def mean(self) -> variable.Variable:
        return self.loc + self.scale * self._mean if self._mean else self.loc

    @property
    def mode(self) -> variable.Variable:
        return self.loc

    @property
    def stddev(self) -> variable.Variable:
        return self.scale * math.sqrt(self._variance)

    @property
    def variance(self) -> variable.Variable:
        return F.square(self.scale) * self._variance
