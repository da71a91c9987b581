"""Parts of error messages."""

from __future__ import annotations

import typing as tp

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray


def _format_array_props(arrays: tp.Iterable[NdArray | None]) -> str:
    """Shapes and dtypes of arrays, as in ``(2, 3):float32, (3,):int32``."""
    return ', '.join('None' if a is None else f'{a.shape}:{a.dtype}' for a in arrays)
