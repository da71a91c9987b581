"""Windows of convolutions and poolings."""

from __future__ import annotations

import typing as tp


def more_at_the_end(
    length: int, window: int, stride: int, begin: int, end: int, outs: int, dilate: int = 1
) -> int:
    """How many elements behind the padding the last window sees (``cover_all``)."""
    reach = (outs - 1) * stride + dilate * (window - 1) + 1
    return max(0, reach - (length + begin + end))


def per_axis(value: tp.Any, n: int) -> list[int]:
    """A number for each axis."""
    return [int(v) for v in value] if isinstance(value, (tuple, list)) else [int(value)] * n


def pairs_of(pad: tp.Any, n: int) -> tuple[list[int], list[int]]:
    """The padding before each axis, and behind it."""
    pairs = pad if isinstance(pad, (tuple, list)) else [pad] * n
    both = [tuple(p) if isinstance(p, (tuple, list)) else (p, p) for p in pairs]
    return [int(p[0]) for p in both], [int(p[1]) for p in both]
