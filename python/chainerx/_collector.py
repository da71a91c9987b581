"""Python's cycle collector, which has to see cycles through the graph."""

from __future__ import annotations

import functools
import gc

from chainerx._core import engine


@functools.cache
def watch() -> None:
    """Has the engine told of collections from now on; again does nothing.

    Without that it finds cycles through what one array alone keeps, and no others.
    """
    probe = engine.CollectorProbe()
    gc.collect(0)
    del probe
    gc.callbacks.append(engine.on_collection)
