"""Initializers that draw from normal distributions."""

from __future__ import annotations

import typing as tp

from chainer import initializer, types
from chainer.initializers import _random


class Normal(initializer.Initializer):
    """Fills with samples of a normal distribution of mean zero.

    Args:
        scale: Standard deviation.
        dtype: The dtype of the arrays that it is for; None is any.
        rng: Generator with a method ``normal``; None is `numpy.random`.
    """

    def __init__(self, scale: float = 0.05, dtype: tp.Any = None, *, rng: tp.Any = None) -> None:
        self.scale = scale
        self.rng = rng
        super().__init__(dtype)

    def __call__(self, array: types.NdArray) -> None:
        self._check(array)
        _random.fill_normal(array, self.scale, self.rng)


class LeCunNormal(initializer.Initializer):
    """Fills with samples of a normal distribution of deviation ``scale * sqrt(1 / fan_in)``.

    Args:
        scale: Factor of the standard deviation.
        dtype: The dtype of the arrays that it is for; None is any.
        rng: Generator with a method ``normal``; None is `numpy.random`.

    Source: LeCun et al., Efficient BackProp, 1998.
    """

    def __init__(self, scale: float = 1.0, dtype: tp.Any = None, *, rng: tp.Any = None) -> None:
        self.scale = scale
        self.rng = rng
        super().__init__(dtype)

    def __call__(self, array: types.NdArray) -> None:
        self._check(array)
        fan_in, _ = initializer.get_fans(array.shape)
        _random.fill_normal(array, self.scale * _random.scale_of_fan(1, fan_in), self.rng)


class GlorotNormal(initializer.Initializer):
    """Fills with samples of a normal distribution of deviation
    ``scale * sqrt(2 / (fan_in + fan_out))``.

    Args:
        scale: Factor of the standard deviation.
        dtype: The dtype of the arrays that it is for; None is any.
        rng: Generator with a method ``normal``; None is `numpy.random`.

    Source: Glorot and Bengio, AISTATS 2010.
    """

    def __init__(self, scale: float = 1.0, dtype: tp.Any = None, *, rng: tp.Any = None) -> None:
        self.scale = scale
        self.rng = rng
        super().__init__(dtype)

    def __call__(self, array: types.NdArray) -> None:
        self._check(array)
        fan_in, fan_out = initializer.get_fans(array.shape)
        _random.fill_normal(array, self.scale * _random.scale_of_fan(2, fan_in + fan_out), self.rng)


class HeNormal(initializer.Initializer):
    """Fills with samples of a normal distribution of deviation ``scale * sqrt(2 / fan)``.

    Args:
        scale: Factor of the standard deviation.
        dtype: The dtype of the arrays that it is for; None is any.
        fan_option: ``'fan_in'`` keeps the variance of activations, ``'fan_out'`` that of gradients.
        rng: Generator with a method ``normal``; None is `numpy.random`.

    Source: He et al., ICCV 2015.
    """

    def __init__(
        self,
        scale: float = 1.0,
        dtype: tp.Any = None,
        fan_option: str = 'fan_in',
        *,
        rng: tp.Any = None,
    ) -> None:
        self.scale = scale
        self.fan_option = fan_option
        self.rng = rng
        super().__init__(dtype)

    def __call__(self, array: types.NdArray) -> None:
        self._check(array)
        fans = dict(zip(('fan_in', 'fan_out'), initializer.get_fans(array.shape), strict=True))
        if self.fan_option not in fans:
            raise ValueError(
                f"fan_option should be either 'fan_in' or 'fan_out'. Actual: {self.fan_option!r}"
            )
        _random.fill_normal(
            array, self.scale * _random.scale_of_fan(2, fans[self.fan_option]), self.rng
        )
