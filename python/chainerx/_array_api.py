"""The array API standard's inspection of the library."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainerx import _core
from chainerx._dtypes import isdtype

if tp.TYPE_CHECKING:
    from chainerx._typing import DeviceLike

_NAMES = """
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
"""


class _Info:
    """The inspection; its answers do not depend on the device."""

    def capabilities(self) -> dict[str, object]:
        """What arrays may do, and how many dimensions they may have."""
        return {'boolean indexing': True, 'data-dependent shapes': True, 'max dimensions': 10}

    def default_device(self) -> _core.Device:
        """The device of new arrays."""
        return _core.get_default_device()

    def default_dtypes(self, *, device: DeviceLike | None = None) -> dict[str, np.dtype]:
        """The dtypes that routines choose."""
        names = {
            'real floating': 'float32',
            'complex floating': 'complex64',
            'integral': 'int32',
            'indexing': 'int64',
        }
        return {kind: np.dtype(name) for kind, name in names.items()}

    def dtypes(
        self, *, device: DeviceLike | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype]:
        """The dtypes of the standard, or those of a kind; float16 and bfloat16 are none of them."""
        found = {name: np.dtype(name) for name in _NAMES.split()}
        return {n: d for n, d in found.items() if kind is None or isdtype(d, kind)}

    def devices(self) -> tuple[_core.Device, ...]:
        """All devices of the default device's backend."""
        backend = _core.get_default_device().backend
        return tuple([backend.get_device(i) for i in range(backend.get_device_count())])


def __array_namespace_info__() -> _Info:
    """What this library offers, as the array API standard has it.

    Returns:
        An object with the methods ``capabilities``, ``default_device``, ``default_dtypes``,
        ``devices`` and ``dtypes``.
    """
    return _Info()
