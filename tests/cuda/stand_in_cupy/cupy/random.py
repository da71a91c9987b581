"""Random numbers, of NumPy's generator: tests that run on all devices seed that one."""

from __future__ import annotations

import numpy as np

from cupy._array import from_host

seed = np.random.seed


def uniform(low=0.0, high=1.0, size=None, dtype=float):
    return from_host(np.asarray(np.random.uniform(low, high, size), dtype))


def normal(loc=0.0, scale=1.0, size=None, dtype=float):
    return from_host(np.asarray(np.random.normal(loc, scale, size), dtype))


def __getattr__(name):
    def draw(*args, dtype=None, **kwargs):
        return from_host(np.asarray(getattr(np.random, name)(*args, **kwargs), dtype))

    return draw
