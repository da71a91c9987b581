"""The gates of recurrent units."""

from __future__ import annotations

import chainerx


def split_gates(x: chainerx.ndarray) -> list[chainerx.ndarray]:
    """Views of the four gates, (rows, units, ...); those of a unit stand side by side on axis 1."""
    gates = x.reshape(x.shape[0], x.shape[1] // 4, 4, *x.shape[2:])
    return [gates[:, :, i] for i in range(4)]
