"""Draws for initializers: the same numbers for an array of NumPy and of ChainerX."""

from __future__ import annotations

import math
import typing as tp

import numpy as np

from chainer import backend
from chainer.backends import cuda


def rng_for(array: tp.Any, rng: tp.Any) -> tp.Any:
    """Where to draw from: the given generator, or the module that belongs to the array."""
    if rng is not None:
        return rng
    return cuda.cupy.random if isinstance(array, cuda.ndarray) else np.random


def scale_of_fan(gain: float, fan: int) -> float:
    """``sqrt(gain / fan)``; of no inputs, for which there is nothing to draw, 0."""
    return math.sqrt(gain / fan) if fan else 0.0


def fill_normal(array: tp.Any, scale: float, rng: tp.Any) -> None:
    """Fills an array with samples of mean zero and standard deviation ``scale``."""
    _assign(array, rng_for(array, rng).normal(loc=0.0, scale=scale, size=array.shape))


def fill_uniform(array: tp.Any, scale: float, rng: tp.Any) -> None:
    """Fills an array with samples between ``-scale`` and ``scale``."""
    _assign(array, rng_for(array, rng).uniform(low=-scale, high=scale, size=array.shape))


def _assign(array: tp.Any, sample: tp.Any) -> None:
    # Of no dimensions, a sample may be a scalar, which has astype too if it is NumPy's.
    sample = np.asarray(sample) if np.isscalar(sample) else sample
    backend.copyto(array, sample.astype(array.dtype))
