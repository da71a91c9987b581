"""Lets Python's cycle collector find cycles through the graph."""

from __future__ import annotations

import functools
import gc

from chainerx._core import engine


@functools.cache
def watch() -> None:
    """Notifies the engine of collections from now on; calling it again has no effect.

    Without that it only finds cycles through objects that one array alone keeps alive.
    """
    probe = engine.CollectorProbe()
    gc.collect(0)
    del probe
    gc.callbacks.append(engine.on_collection)
