"""Initializers that draw from uniform distributions."""

from __future__ import annotations

import typing as tp

from chainer import initializer
from chainer._base.docstrings import documented_like
from chainer.initializers._random import Random, RandomUniform, scale_of_fan

if tp.TYPE_CHECKING:
    import numpy as np

    from chainer._typing import DTypeLike


@documented_like(Random)
class Uniform(RandomUniform):
    """Fills with samples between ``-scale`` and ``scale``.

    Args:
        scale: The bound.
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
class LeCunUniform(RandomUniform):
    """Fills with samples between plus and minus ``scale * sqrt(3 / fan_in)``.

    Source: LeCun et al., Efficient BackProp, 1998.
    """

    def _factor(self, shape: tuple[int, ...]) -> float:
        fan_in, _ = initializer.get_fans(shape)
        return scale_of_fan(3, fan_in)


@documented_like(Random)
class GlorotUniform(RandomUniform):
    """Fills with samples between plus and minus ``scale * sqrt(6 / (fan_in + fan_out))``.

    Source: Glorot and Bengio, AISTATS 2010.
    """

    def _factor(self, shape: tuple[int, ...]) -> float:
        fan_in, fan_out = initializer.get_fans(shape)
        return scale_of_fan(6, fan_in + fan_out)


@documented_like(Random)
class HeUniform(RandomUniform):
    """Fills with samples between plus and minus ``scale * sqrt(6 / fan_in)``.

    Source: He et al., ICCV 2015.
    """

    def _factor(self, shape: tuple[int, ...]) -> float:
        fan_in, _ = initializer.get_fans(shape)
        return scale_of_fan(6, fan_in)
