"""Conversion of minibatches for updaters and evaluators."""

from __future__ import annotations

import typing as tp

from chainer import backend

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, DeviceSpec


def call_with(function: AnyCallable, converted: tp.Any) -> tp.Any:
    """Calls a function with a minibatch: a tuple is its arguments, a dict its keywords."""
    if isinstance(converted, tuple):
        return function(*converted)
    if isinstance(converted, dict):
        return function(**converted)
    return function(converted)


def check_device(device: DeviceSpec) -> backend.Device | None:
    """Return the device of a device argument; None stays."""
    return None if device is None else backend.get_device(device)
