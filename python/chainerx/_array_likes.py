"""Numbers and lists as arguments of routines in Python; those in C++ convert them themselves."""

from __future__ import annotations

import typing as tp

from chainerx import _core


def as_array(op: str, name: str, x: tp.Any) -> _core.ndarray:
    """An array itself; what routines make of a number or a list.

    Args:
        op (str): The name of the routine, for the error.
        name (str): That of the parameter.
        x: What was given.
    Returns:
        ndarray: Of the dtype that docs/dtypes.md says.
    Raises:
        TypeError: If it is something else, an array of NumPy among that.
    """
    if isinstance(x, _core.ndarray):
        return x
    try:
        return _core.copy(x)
    except TypeError:
        raise TypeError(
            f'{op}: {name} must be a chainerx.ndarray, got {type(x).__name__}'
        ) from None
