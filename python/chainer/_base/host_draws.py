"""Random numbers that the host draws for devices, with NumPy's distributions."""

from __future__ import annotations

import threading
from collections.abc import Callable

import chainerx
import numpy as np
from chainerx import _watch
from chainerx._core import engine

_MAX_ARRAYS = 256


class HostDraws(threading.local):
    """Draws now, or, in a step that is recorded, before each replay, into memory that stays."""

    def __init__(self) -> None:
        self._recording = 0
        self._n = 0
        self._arrays: dict[object, chainerx.ndarray] = {}

    def __call__(
        self, draw: Callable[[], np.ndarray], shape: object, device: chainerx.Device
    ) -> chainerx.ndarray:
        """An array with what has been drawn.

        Args:
            draw (callable): Draws from `numpy.random`; must not keep alive what holds recordings.
            shape (int or tuple): Of what it draws, maybe with the dtype.
            device (Device): Of the result.
        """
        if not engine.is_capturing():
            return chainerx.array(draw(), device=device)
        # A step may draw several times.
        recording = _watch.count_recordings()
        self._n = self._n + 1 if recording == self._recording else 0
        self._recording = recording
        key = self._n, shape, device
        array = self._arrays.get(key)

        def send() -> None:
            nonlocal array
            drawn = chainerx.array(draw(), device=device)
            if array is None or array.dtype != drawn.dtype:
                array = drawn
            else:
                array[...] = drawn

        engine.capture_draw(send)
        if len(self._arrays) > _MAX_ARRAYS:
            self._arrays.clear()
        assert array is not None
        self._arrays[key] = array
        return array
