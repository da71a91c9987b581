"""Uniform distributions."""

from __future__ import annotations

import math
import typing as tp

import numpy as np

from chainer import distribution, variable
from chainer import functions as F
from chainer.distributions import utils
from chainer.distributions._draws import to_host
from chainer.distributions._parametric import Parametric

if tp.TYPE_CHECKING:
    from chainer._typing import VariableOrNumber


class Uniform(Parametric):
    """Uniform distributions.

    Args:
        low, high (Variable, array or float): The borders, ``low <= high``; shapes that broadcast,
            one float dtype.
        loc, scale (Variable, array or float): ``low`` and ``high - low``, instead.

    Attributes:
        low, high, loc, scale (Variable): All of them. Samples are differentiable in them.
    """

    domains: tp.ClassVar = {'low': 'real', 'high': 'real', 'loc': 'real', 'scale': 'scale'}

    def __init__(
        self,
        *,
        low: VariableOrNumber | None = None,
        high: VariableOrNumber | None = None,
        loc: VariableOrNumber | None = None,
        scale: VariableOrNumber | None = None,
    ) -> None:
        given = {'low': low, 'high': high, 'loc': loc, 'scale': scale}
        names = tuple(name for name, value in given.items() if value is not None)
        if names not in (('low', 'high'), ('loc', 'scale')):
            has = ' and '.join(names) or 'nothing'
            raise ValueError(f'Uniform: {has} given, expected low and high, or loc and scale')
        self._set_params(**{name: given[name] for name in names})
        self._by_borders = names[0] == 'low'

    def _check_params(self) -> None:
        super()._check_params()
        if 'scale' not in self._params:
            low, high = (to_host(self._params[name]) for name in ('low', 'high'))
            bad = np.argwhere(low > high)
            if len(bad):
                place, index = ''.join(f'[{i}]' for i in bad[0]), tuple(bad[0])
                raise ValueError(
                    f'Uniform: high{place} is {high[index]}, expected >= low, {low[index]}'
                )

    @property
    def low(self) -> variable.Variable:
        """The lower border."""
        return self._first

    @property
    def loc(self) -> variable.Variable:
        """The lower border."""
        return self._first

    @property
    def high(self) -> variable.Variable:
        """The upper border."""
        return self._params['high'] if self._by_borders else self.loc + self.scale

    @property
    def scale(self) -> variable.Variable:
        """The distance of the borders."""
        return self.high - self.low if self._by_borders else self._params['scale']

    @property
    def support(self) -> str:
        return '[low, high]'

    def _sample(self, n: int) -> variable.Variable:
        return self.low + self.scale * self._source.uniform(self._shape(n))

    def log_prob(self, x: VariableOrNumber) -> variable.Variable:
        x = self._point(x)
        inside = ~((x.array < self.low.array) | (x.array > self.high.array))
        return utils.or_nan(x, utils.choose(inside, -F.log(self.scale), -math.inf))

    def cdf(self, x: VariableOrNumber) -> variable.Variable:
        return F.clip((self._point(x) - self.low) / self.scale, 0.0, 1.0)

    def survival_function(self, x: VariableOrNumber) -> variable.Variable:
        return F.clip((self.high - self._point(x)) / self.scale, 0.0, 1.0)

    def icdf(self, x: VariableOrNumber) -> variable.Variable:
        return self.low + self.scale * utils.level(self._point(x))

    @property
    def entropy(self) -> variable.Variable:
        return F.log(self.scale)

    @property
    def mean(self) -> variable.Variable:
        return self.low + self.scale * 0.5

    @property
    def stddev(self) -> variable.Variable:
        return self.scale * math.sqrt(1 / 12)

    @property
    def variance(self) -> variable.Variable:
        return F.square(self.scale) * (1 / 12)


@distribution.register_kl(Uniform, Uniform)
def _kl_uniform_uniform(dist1: Uniform, dist2: Uniform) -> variable.Variable:
    low, high = dist1.low.array, dist1.high.array
    inside = (low >= dist2.low.array) & (high <= dist2.high.array)
    return utils.choose(inside, F.log(dist2.scale) - F.log(dist1.scale), math.inf)
