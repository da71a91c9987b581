"""Draws for initializers: the same numbers for an array of NumPy and of ChainerX."""

from __future__ import annotations

import math
import typing as tp

import numpy as np

from chainer import backend, initializer, types
from chainer.backends import cuda

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, NdArray


class Random(initializer.Initializer):
    """Base of those that fill with samples of a distribution.

    Args:
        scale: Factor of the standard deviation, or of the bound.
        dtype: The dtype of the arrays that it is for; None is any.
        rng: Generator with a method of the distribution's name; None is `numpy.random`.
    """

    def __init__(
        self, scale: float = 1.0, dtype: DTypeLike | None = None, *, rng: tp.Any = None
    ) -> None:
        self.scale = scale
        self.rng = rng
        super().__init__(dtype)

    def _factor(self, shape: tuple[int, ...]) -> float:
        """Return the factor of ``scale`` for an array of that shape."""
        return 1.0

    def _draw(self, rng: object, scale: float, shape: tuple[int, ...]) -> np.ndarray:
        raise NotImplementedError

    def __call__(self, array: types.NdArray) -> None:
        self._check(array)
        scale = self.scale * self._factor(array.shape)
        sample = self._draw(rng_for(array, self.rng), scale, array.shape)
        # A sample without dimensions may be a scalar, which has astype too if it is NumPy's.
        sample = np.asarray(sample) if np.isscalar(sample) else sample
        backend.copyto(array, sample.astype(array.dtype))


class RandomNormal(Random):
    """Base of those of mean zero and standard deviation ``scale``."""

    def _draw(self, rng: tp.Any, scale: float, shape: tuple[int, ...]) -> np.ndarray:
        return rng.normal(loc=0.0, scale=scale, size=shape)


class RandomUniform(Random):
    """Base of those between ``-scale`` and ``scale``."""

    def _draw(self, rng: tp.Any, scale: float, shape: tuple[int, ...]) -> np.ndarray:
        return rng.uniform(low=-scale, high=scale, size=shape)


def rng_for(array: NdArray, rng: tp.Any) -> tp.Any:
    """Where to draw from: the given generator, or the module that belongs to the array."""
    if rng is not None:
        return rng
    return cuda.cupy.random if isinstance(array, cuda.ndarray) else np.random


def scale_of_fan(gain: float, fan: int) -> float:
    """Return ``sqrt(gain / fan)``; return 0 for no inputs, which draw nothing."""
    return math.sqrt(gain / fan) if fan else 0.0
