"""Base classes of poolings of regions of interest (ROI)."""

from __future__ import annotations

import collections.abc as c
import math
import typing as tp

import chainerx
import numpy as np

from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer._graph.gradients import linear
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, PerAxis


class RegionPooling(BuiltinFunction):
    """Base of functions on (top, left, bottom, right) regions with separate image indices.

    Attributes:
        outh, outw: Size of the output.
        spatial_scale: The factor of the coordinates of regions.
    """

    is_called = True
    check_uses_attributes = False

    def __init__(self, outsize: PerAxis | None, spatial_scale: float) -> None:
        self.outh, self.outw = to_outsize(outsize)
        self.spatial_scale = to_scale(spatial_scale)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 'rois', 'roi_indices'))
        x, rois, indices = in_types
        type_check.expect(
            x.dtype.kind == 'f',
            x.ndim == 4,
            rois.dtype == x.dtype,
            rois.ndim == 2,
            indices.dtype == np.int32,
            indices.ndim == 1,
        )
        type_check.expect(rois.shape[1] == 4, rois.shape[0] == indices.shape[0])


class RegionAlign(RegionPooling):
    """Base of those that look at points between the pixels.

    Attributes:
        sampling_ratio: How many points of each part, down and across.
    """

    def __init__(
        self, outsize: PerAxis | None, spatial_scale: float, sampling_ratio: PerAxis | None = None
    ) -> None:
        super().__init__(outsize, spatial_scale)
        self.sampling_ratio = to_ratios(sampling_ratio)


def pool_regions(op: str, *, average: bool) -> routine:
    """The composition of ``op``: means or maxima of the pixels of each part of each region."""
    empty = 0.0 if average else -float('inf')

    def compose(
        x: chainerx.ndarray,
        rois: chainerx.ndarray,
        roi_indices: chainerx.ndarray,
        outh: int,
        outw: int,
        scale: float,
    ) -> chainerx.ndarray:
        def pool(image: chainerx.ndarray, region: list[float]) -> chainerx.ndarray:
            top, left, bottom, right = (round(v) for v in region)
            spans = (top, max(bottom, top + 1)), (left, max(right, left + 1))
            return pool_bins(image, spans, (outh, outw), average, empty)

        return for_regions(op, x, rois, roi_indices, scale, (outh, outw), pool)

    return routine(compose, outh=..., outw=..., spatial_scale=...)


def align_regions(op: str, *, average: bool) -> routine:
    """The composition of ``op``: means or maxima of points of each part of each region."""

    def compose(
        x: chainerx.ndarray,
        rois: chainerx.ndarray,
        roi_indices: chainerx.ndarray,
        outh: int,
        outw: int,
        scale: float,
        ratios: tuple[int | None, int | None],
    ) -> chainerx.ndarray:
        def pool(image: chainerx.ndarray, region: list[float]) -> chainerx.ndarray:
            top, left, bottom, right = region
            return align(image, ((top, bottom), (left, right)), (outh, outw), ratios, average)

        return for_regions(op, x, rois, roi_indices, scale, (outh, outw), pool)

    return routine(compose, outh=..., outw=..., spatial_scale=..., sampling_ratio=...)


def to_outsize(outsize: tp.Any) -> tuple[int, int]:
    """Height and width, of a number for both or a pair.

    Raises:
        TypeError: If these are no positive integers.
    """
    one = isinstance(outsize, np.number) or not hasattr(outsize, '__getitem__')
    pair = (outsize, outsize) if one else tuple(outsize)
    for n in pair:
        if not isinstance(n, int | np.integer) or n <= 0:
            raise TypeError(f'outsize is {outsize!r}, expected a positive int or a pair of them')
    height, width = pair
    return int(height), int(width)


def to_scale(scale: float) -> float:
    """A positive number.

    Raises:
        TypeError: If it is not.
    """
    if not isinstance(scale, int | float | np.number) or not scale > 0:
        raise TypeError(f'spatial_scale is {scale!r}, expected a positive number')
    return float(scale)


def to_ratios(ratio: PerAxis | None) -> tuple[int | None, int | None]:
    """How many points are sampled down and across; None where it depends on the region.

    Raises:
        TypeError: If these are no positive integers.
    """
    pair = ratio if isinstance(ratio, list | tuple) else (ratio, ratio)
    for n in pair:
        if n is not None and (not isinstance(n, int | np.integer) or n < 1):
            raise TypeError(
                f'sampling_ratio is {ratio!r}, expected a positive int or a pair of them'
            )
    down, across = pair
    return down, across


def for_regions(
    op: str,
    x: chainerx.ndarray,
    regions: chainerx.ndarray,
    indices: chainerx.ndarray,
    scale: float,
    outsize: tuple[int, int],
    pool: c.Callable[[chainerx.ndarray, list[float]], chainerx.ndarray],
) -> chainerx.ndarray:
    """The results of ``pool(image, region * scale)``, (1, C, *outsize) each, one by one."""
    found = []
    for n, region in zip(_on_host(indices), _on_host(regions), strict=True):
        if not 0 <= n < len(x):
            raise IndexError(f'{op}: a region is of image {int(n)}, x has {len(x)}')
        if not np.isfinite(region).all():
            raise ValueError(f'{op}: a region is {region.tolist()}, expected finite numbers')
        scaled = [v * scale for v in region.tolist()]
        if not np.isfinite(scaled).all():
            text = f'{op}: spatial_scale is {scale}, which makes {region.tolist()} infinite'
            raise ValueError(text)
        image = int(n)
        found.append(pool(x[image : image + 1], scaled))
    if not found:
        none = chainerx.sum(x[:0], axis=(2, 3), keepdims=True)
        return chainerx.broadcast_to(none, (0, x.shape[1], *outsize))
    return chainerx.concatenate(found, 0)


def _on_host(array: chainerx.ndarray) -> np.ndarray:
    return chainerx.to_numpy(array.as_grad_stopped())


def pool_bins(
    image: chainerx.ndarray,
    spans: tuple[tuple[int, int], tuple[int, int]],
    outsize: tuple[int, int],
    average: bool,
    empty: float,
) -> chainerx.ndarray:
    """Maxima or means of the parts of a region, whose first and last row and column are given.

    Only pixels inside of the image count; parts that are wholly outside are ``empty``.
    """
    inside = all(
        begin >= 0 and end <= n for (begin, end), n in zip(spans, image.shape[2:], strict=True)
    )
    if inside:
        (top, bottom), (left, right) = spans
        adaptive = chainerx.adaptive_average_pool if average else chainerx.adaptive_max_pool
        return adaptive(image[:, :, top:bottom, left:right], outsize)
    pool = chainerx.global_average_pool if average else chainerx.global_max_pool
    nothing = chainerx.full((1, image.shape[1], 1, 1), empty, image.dtype, device=image.device)
    down, across = (
        [
            slice(
                min(max(begin + i * (end - begin) // m, 0), n),
                min(max(begin - (-(i + 1) * (end - begin) // m), 0), n),
            )
            for i in range(m)
        ]
        for (begin, end), m, n in zip(spans, outsize, image.shape[2:], strict=True)
    )
    bins = [
        pool(image[:, :, a, b]) if a.stop > a.start and b.stop > b.start else nothing
        for a in down
        for b in across
    ]
    return chainerx.concatenate(bins, 2).reshape(1, image.shape[1], *outsize)


def align(
    image: chainerx.ndarray,
    spans: tuple[tuple[float, float], tuple[float, float]],
    outsize: tuple[int, int],
    ratios: tuple[int | None, int | None],
    average: bool,
) -> chainerx.ndarray:
    """Maxima or means of points between pixels, as many in each part of a region.

    Points that are more than a pixel out of the image count as 0 in means, and not in maxima.
    """
    y = _sampled(image, spans, outsize, ratios)
    points = _points(image.shape[2:], spans, outsize, ratios)
    kept = tuple(len(p.at) // m for p, m in zip(points, outsize, strict=True))
    if average:
        share = math.prod(n / p.n_points for n, p in zip(kept, points, strict=True))
        y = chainerx.average_pool(y, kept)
        return y if share == 1 else y * share
    down, across = (p.inside for p in points)
    if not (down.all() and across.all()):
        inside = chainerx.array(down[:, None] & across, device=y.device)
        y = chainerx.where(inside, y, -math.inf)
    return chainerx.max_pool(y, kept)


class _Points(tp.NamedTuple):
    """Points along an axis, and which of them are not outside of the image.

    Every part keeps the same number of its ``n_points``; the points left out are outside.
    """

    at: np.ndarray
    inside: np.ndarray
    n_points: int


def _points(
    size: tuple[int, ...],
    spans: tuple[tuple[float, float], tuple[float, float]],
    outsize: tuple[int, int],
    ratios: tuple[int | None, int | None],
) -> list[_Points]:
    """Combines both axes."""
    found = []
    for n, (begin, end), m, ratio in zip(size, spans, outsize, ratios, strict=True):
        length = max(end - begin, 1.0)
        count = ratio or math.ceil(length / m)
        # The order of operations matters, because points on the edge of an image depend on the last
        # bit.
        part = length / m
        parts = begin + np.arange(m).reshape(m, 1) * part
        numbers: np.ndarray = np.arange(min(count, _most_inside(n, part, count)))
        total = float(count)
        if len(numbers) < count:
            first = np.floor((-1 - parts) * (total / part)) - 2
            numbers = np.clip(first, 0, total - len(numbers)) + numbers
        at = (parts + (numbers + 0.5) * part / total).ravel()
        found.append(_Points(at, (at >= -1) & (at <= n), count))
    return found


def _most_inside(n: int, part: float, count: int) -> int:
    """No fewer than the points, ``count`` in a part, between -1 and ``n``."""
    return math.ceil((n + 1) * (count / part)) + 5


def _sample(image: chainerx.ndarray, *where: tp.Any) -> chainerx.ndarray:
    for axis, points in zip((2, 3), _points(image.shape[2:], *where), strict=True):
        image = _between(image, axis, points.at, points.inside)
    return image


# The tables of points would be more than v7 keeps.
_sampled = linear('roi_align', _sample, 3)


def _between(
    x: chainerx.ndarray, axis: int, at: np.ndarray, inside: np.ndarray
) -> chainerx.ndarray:
    """Values between the elements along an axis, 0 where they are not inside."""
    n = x.shape[axis]
    at = np.clip(at, 0, n - 1)
    low = np.floor(at).astype('int64')

    high_weight = (at - low).astype(x.dtype)
    low_weight = 1 - high_weight

    def take(places: np.ndarray, weights: np.ndarray) -> chainerx.ndarray:
        scale = (weights * inside).reshape((-1,) + (1,) * (3 - axis))
        values = x.take(chainerx.array(places, device=x.device), axis)
        return values * chainerx.array(scale, x.dtype, device=x.device)

    return take(low, low_weight) + take(np.minimum(low + 1, n - 1), high_weight)
