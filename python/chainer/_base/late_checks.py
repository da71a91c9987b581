"""Checks of values: at once, or after each replay of a step that is recorded."""

from __future__ import annotations

import typing as tp
from collections.abc import Callable

from chainerx._core import engine

Arrays = tp.TypeVar('Arrays')


def check(key: tuple[object, ...], arrays: Arrays, look: Callable[[Arrays], None]) -> None:
    """Calls a function that looks at arrays, and raises an error if their values are bad.

    A step that is replayed has done its work by then, as on devices whose kernels run later.

    Args:
        key (tuple): What tells the check from others.
        arrays (tuple): What is looked at.
        look (callable): It is given the arrays; must not keep alive what holds recordings.
    """
    if engine.is_capturing():
        arrays = tp.cast(Arrays, engine.capture_part(key, None, look, arrays))
        engine.unobserved(lambda: look(arrays))
    else:
        look(arrays)
