"""Initializers that draw from normal distributions."""

from __future__ import annotations

import typing as tp

from chainer import initializer
from chainer._base.docstrings import documented_like
from chainer.initializers._random import Random, RandomNormal, scale_of_fan

if tp.TYPE_CHECKING:
    import numpy as np

    from chainer._typing import DTypeLike


@documented_like(Random)
class Normal(RandomNormal):
    """Fills with samples of a normal distribution of mean zero.

    Args:
        scale: Standard deviation.
    """

    def __init__(
        self,
        scale: float = 0.05,
        dtype: DTypeLike | None = None,
        *,
        rng: np.random.RandomState | None = None,
    ) -> None:
        super().__init__(scale, dtype, rng=rng)


@documented_like(Random)
class LeCunNormal(RandomNormal):
    """Fills with samples of a normal distribution of deviation ``scale * sqrt(1 / fan_in)``.

    Source: LeCun et al., Efficient BackProp, 1998.
    """

    def _factor(self, shape: tuple[int, ...]) -> float:
        fan_in, _ = initializer.get_fans(shape)
        return scale_of_fan(1, fan_in)


@documented_like(Random)
class GlorotNormal(RandomNormal):
    """Fills with samples of a normal distribution of deviation
    ``scale * sqrt(2 / (fan_in + fan_out))``.

    Source: Glorot and Bengio, AISTATS 2010.
    """

    def _factor(self, shape: tuple[int, ...]) -> float:
        fan_in, fan_out = initializer.get_fans(shape)
        return scale_of_fan(2, fan_in + fan_out)


@documented_like(Random)
class HeNormal(RandomNormal):
    """Fills with samples of a normal distribution of deviation ``scale * sqrt(2 / fan)``.

    Args:
        scale: Factor of the standard deviation.
        fan_option: ``'fan_in'`` keeps the variance of activations, ``'fan_out'`` that of gradients.

    Source: He et al., ICCV 2015.
    """

    def __init__(
        self,
        scale: float = 1.0,
        dtype: DTypeLike | None = None,
        fan_option: str = 'fan_in',
        *,
        rng: np.random.RandomState | None = None,
    ) -> None:
        self.fan_option = fan_option
        super().__init__(scale, dtype, rng=rng)

    def _factor(self, shape: tuple[int, ...]) -> float:
        fans = dict(zip(('fan_in', 'fan_out'), initializer.get_fans(shape), strict=True))
        if self.fan_option not in fans:
            raise ValueError(
                f"fan_option should be either 'fan_in' or 'fan_out'. Actual: {self.fan_option!r}"
            )
        return scale_of_fan(2, fans[self.fan_option])
