"""Helpers of tests."""

from __future__ import annotations

import chainer as _chainer

__all__ = ['get_device']


def get_device(device_id: int | None = None, use_chainerx: bool = False) -> _chainer.backend.Device:
    """The device of a number.

    Args:
        device_id (int): Of a GPU; None for the CPU.
        use_chainerx (bool): Whether it is that of chainerx, else it is of NumPy or CuPy.

    Returns:
        Device: The device.

    Raises:
        RuntimeError: If there is no such GPU.
    """
    if device_id is None:
        return _chainer.get_device('native:0' if use_chainerx else '@numpy')
    return _chainer.get_device(f'cuda:{device_id}' if use_chainerx else f'@cupy:{device_id}')
