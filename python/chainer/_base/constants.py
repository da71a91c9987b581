"""Arrays of values that a function has computed on the host, such as where to look."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np
from chainerx._core import engine

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike


def constant(
    values: np.ndarray, device: chainerx.Device, dtype: DTypeLike | None = None
) -> chainerx.ndarray:
    """An array of values that depend on shapes and options alone.

    A step that is recorded knows them by their values, since their memory is new in each call.

    Args:
        values (ndarray): Which.
        device (Device): Of the result.
        dtype: Of the result; that of ``values`` by default.
    """
    if engine.is_capturing():
        dtype = values.dtype if dtype is None else dtype
        return chainerx.array(values.tolist(), dtype, device=device).reshape(values.shape)
    return chainerx.array(values, dtype, device=device)
