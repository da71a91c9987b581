"""Converts observed values to numbers."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer.backends import _cpu
from chainer.variable import Variable


def to_number(value: object) -> tp.Any:
    """An observed value as a number of Python; arrays on any device, and Variables, are read.

    Args:
        value: A number, or an array or a Variable of one.
    """
    if isinstance(value, Variable):
        value = value.array
    if hasattr(value, 'dtype'):
        value = _cpu._to_cpu(value).item()
    return value


def to_float(value: object, what: str) -> float:
    """Return a mean of observed values as a float.

    Args:
        value: As `to_number` takes it.
        what (str): The caller and the value, for the error message.

    Raises:
        TypeError: If it is no real number.
    """
    try:
        return float(to_number(value))
    except TypeError:
        raise TypeError(f'{what} is no real number: {value!r}') from None


def on_host(value: object) -> tp.Any:
    """An observed value as a float, if that is to be had without waiting for a device.

    Sums of floats are quicker than those of arrays, and the same.

    Args:
        value: Anything that may be observed.
    """
    if isinstance(value, Variable):
        value = value.array
    if isinstance(value, chainerx.ndarray):
        if value.ndim == 0 and value.dtype.kind == 'f' and value.device.backend.name == 'native':
            return float(value)
    elif isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind == 'f':
        return float(value)
    return value
