"""Helpers of hooks that change gradients."""

from __future__ import annotations

import contextlib
import typing as tp

import chainerx

from chainer import backend


@contextlib.contextmanager
def changing(param: tp.Any) -> tp.Iterator[tuple[tp.Any, tp.Any, tp.Any]]:
    """A context with the array module, the parameter's array and its gradient, out of any graph.

    A hook assigns a new gradient instead of changing the old one in place: other parameters, and
    variables that the user kept, may share it. Array and gradient are None where one is missing.
    """
    p = param.array
    g = None if p is None else param.grad
    if g is None:
        yield None, None, None
        return
    with backend.using_device(backend.get_device_from_array(p)), chainerx.no_backprop_mode():
        yield backend.get_array_module(p), p, g


def norm(xp: tp.Any, array: tp.Any) -> float:
    """The Euclidean norm."""
    return float(xp.sqrt(squared_norm(array)))


def squared_norm(array: tp.Any) -> tp.Any:
    """Return the sum of squares, of 16-bit floats in float32: they overflow from 256 on."""
    x = array.ravel()
    if x.dtype.itemsize == 2:
        x = x.astype('float32')
    return x.dot(x)
