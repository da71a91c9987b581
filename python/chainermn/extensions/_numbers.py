"""Reported values as numbers of Python, which messages carry."""

from __future__ import annotations

import typing as tp

import chainer

from chainermn.communicators import _arrays


def to_number(value: tp.Any) -> tp.Any:
    """A variable or an array with one element as a number of NumPy; anything else as it is."""
    if isinstance(value, chainer.Variable):
        value = value.array
    if isinstance(value, chainer.get_array_types()):
        host = _arrays.to_host(value)
        return host.reshape(())[()] if host.size == 1 else host
    return value
