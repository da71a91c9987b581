"""Mixed precision within a function."""

from __future__ import annotations

import functools
import typing as tp

import numpy as np

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, NdArray


def _fp16_mixed_precision_helper(fn: tp.Callable) -> tp.Callable:
    """Makes a method ``fn(self, arrays)`` compute float16 inputs in float32.

    Results are cast back if all its float inputs are float16.
    """

    @functools.wraps(fn)
    def wrapper(self: tp.Any, in_data: tuple) -> tuple:
        half = [_is(x, np.float16) for x in in_data]
        if not any(half):
            return fn(self, in_data)
        outputs = fn(
            self,
            tuple(x.astype(np.float32) if h else x for x, h in zip(in_data, half, strict=True)),
        )
        if any(x is not None and x.dtype.kind == 'f' and not h for x, h in zip(in_data, half)):  # noqa: B905
            return outputs
        return tuple(y.astype(np.float16) if _is(y, np.float32) else y for y in outputs)

    return wrapper


def _is(x: NdArray | None, dtype: DTypeLike) -> bool:
    return x is not None and x.dtype == dtype
