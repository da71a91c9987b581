"""Numbers out of what may be observed."""

from __future__ import annotations

import typing as tp

from chainer.backends import _cpu
from chainer.variable import Variable


def to_number(value: tp.Any) -> tp.Any:
    """An observed value as a number of Python; arrays on any device, and Variables, are read.

    Args:
        value: A number, or an array or a Variable of one.
    """
    if isinstance(value, Variable):
        value = value.array
    if hasattr(value, 'dtype'):
        value = _cpu._to_cpu(value).item()
    return value
