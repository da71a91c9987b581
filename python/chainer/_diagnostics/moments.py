"""Moments on a device of chainerx, for hooks that measure time."""

from __future__ import annotations

import time

import chainerx

Moment = float | chainerx.cuda.Event


def now(device: chainerx.Device | None) -> Moment:
    """Return an event of the current stream of a GPU, or the seconds of a clock.

    Args:
        device (chainerx.Device): None for the host. For other devices than GPUs it waits.
    """
    if device is not None:
        if device.backend.name == 'cuda':
            event = chainerx.cuda.Event(device)
            event.record()
            return event
        device.synchronize()  # a kernel may still be running
    return time.perf_counter()


def seconds(start: Moment, stop: Moment) -> float:
    """Return the seconds between two moments of one device; waits for the later one.

    Args:
        start (float or Event): What :func:`now` returned.
        stop (float or Event): What it returned later.
    """
    if isinstance(start, float) or isinstance(stop, float):
        assert isinstance(start, float)
        assert isinstance(stop, float)
        return stop - start
    stop.synchronize()
    return start.elapsed_time(stop) / 1000
