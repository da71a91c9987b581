"""Initializers that draw from uniform distributions."""

from __future__ import annotations

import typing as tp

from chainer import initializer, types
from chainer.initializers import _random


class Uniform(initializer.Initializer):
    """Fills with samples between ``-scale`` and ``scale``.

    Args:
        scale: The bound.
        dtype: The dtype of the arrays that it is for; None is any.
        rng: Generator with a method ``uniform``; None is `numpy.random`.
    """

    def __init__(self, scale: float = 0.05, dtype: tp.Any = None, *, rng: tp.Any = None) -> None:
        self.scale = scale
        self.rng = rng
        super().__init__(dtype)

    def __call__(self, array: types.NdArray) -> None:
        self._check(array)
        _random.fill_uniform(array, self.scale, self.rng)


class LeCunUniform(initializer.Initializer):
    """Fills with samples between plus and minus ``scale * sqrt(3 / fan_in)``.

    Args:
        scale: Factor of the bound.
        dtype: The dtype of the arrays that it is for; None is any.
        rng: Generator with a method ``uniform``; None is `numpy.random`.

    Source: LeCun et al., Efficient BackProp, 1998.
    """

    def __init__(self, scale: float = 1.0, dtype: tp.Any = None, *, rng: tp.Any = None) -> None:
        self.scale = scale
        self.rng = rng
        super().__init__(dtype)

    def __call__(self, array: types.NdArray) -> None:
        self._check(array)
        fan_in, _ = initializer.get_fans(array.shape)
        _random.fill_uniform(array, self.scale * _random.scale_of_fan(3, fan_in), self.rng)


class GlorotUniform(initializer.Initializer):
    """Fills with samples between plus and minus ``scale * sqrt(6 / (fan_in + fan_out))``.

    Args:
        scale: Factor of the bound.
        dtype: The dtype of the arrays that it is for; None is any.
        rng: Generator with a method ``uniform``; None is `numpy.random`.

    Source: Glorot and Bengio, AISTATS 2010.
    """

    def __init__(self, scale: float = 1.0, dtype: tp.Any = None, *, rng: tp.Any = None) -> None:
        self.scale = scale
        self.rng = rng
        super().__init__(dtype)

    def __call__(self, array: types.NdArray) -> None:
        self._check(array)
        fan_in, fan_out = initializer.get_fans(array.shape)
        _random.fill_uniform(
            array, self.scale * _random.scale_of_fan(6, fan_in + fan_out), self.rng
        )


class HeUniform(initializer.Initializer):
    """Fills with samples between plus and minus ``scale * sqrt(6 / fan_in)``.

    Args:
        scale: Factor of the bound.
        dtype: The dtype of the arrays that it is for; None is any.
        rng: Generator with a method ``uniform``; None is `numpy.random`.

    Source: He et al., ICCV 2015.
    """

    def __init__(self, scale: float = 1.0, dtype: tp.Any = None, *, rng: tp.Any = None) -> None:
        self.scale = scale
        self.rng = rng
        super().__init__(dtype)

    def __call__(self, array: types.NdArray) -> None:
        self._check(array)
        fan_in, _ = initializer.get_fans(array.shape)
        _random.fill_uniform(array, self.scale * _random.scale_of_fan(6, fan_in), self.rng)
