"""Poolings of regions of interest, (top, left, bottom, right) each."""

from __future__ import annotations

import typing as tp

import numpy as np
from chainerx.onnx._terms import Term

from onnx_chainer.converters._registry import Conversion, converts


@converts('ROIPooling2D')
def roi_pooling_2d(g: Conversion) -> str:
    f = g.func
    return g.op(
        'MaxRoiPool',
        g.x,
        pooled_shape=[f.outh, f.outw],
        spatial_scale=float(f.spatial_scale),
    )


@converts('ROIAverageAlign2D')
def roi_average_align_2d(g: Conversion) -> str:
    f = g.func
    down, across = f.sampling_ratio
    if down != across:
        return _align(g, is_mean=True)
    g.need(10, 'RoiAlign')
    # Corners are (top, left, bottom, right) here, (left, top, right, bottom) there.
    rois = g.op('Gather', [g.x[1], g.ints([1, 0, 3, 2], 'order')], axis=1)
    return g.op(
        'RoiAlign',
        [g.x[0], rois, g.cast(g.x[2], np.int64)],
        mode='avg',
        output_height=f.outh,
        output_width=f.outw,
        spatial_scale=float(f.spatial_scale),
        sampling_ratio=int(down or 0),
        coordinate_transformation_mode='output_half_pixel' if g.opset >= 16 else None,
    )


@converts('ROIMaxAlign2D')
def roi_max_align_2d(g: Conversion) -> str:
    # RoiAlign has maxima of something else: of pixels with their weights.
    return _align(g, is_mean=False)


@converts('ROIAveragePooling2D')
def roi_average_pooling_2d(g: Conversion) -> str:
    return _pool(g, is_mean=True)


@converts('ROIMaxPooling2D')
def roi_max_pooling_2d(g: Conversion) -> str:
    return _pool(g, is_mean=False)


def _put(x: Term, axes: tp.Sequence[int]) -> Term:
    """Adds axes of length 1, at their places in the result."""
    return Term(x.g, x.g.unsqueeze(x.name, axes), x.dtype)


def _clipped(x: Term, low: Term | float, high: Term | float) -> Term:
    return x.op('Max', low).op('Min', high)


class _Axis:
    """Rows or columns, in float64; regions, parts and places in a part are axes, in this order.

    Args:
        g (Conversion): The function.
        i (int): 0 for rows, 1 for columns.
    """

    def __init__(self, g: Conversion, i: int) -> None:
        self.g = g
        self.m = (g.func.outh, g.func.outw)[i]
        size = g.squeeze(g.length_of(g.x[0], 2 + i), [0])
        self.n = Term(g, size, np.int64).cast(np.float64)
        self.begin, self.end = (self._corner(k) for k in (i, 2 + i))
        parts = g.const(np.arange(self.m)[:, None], 'parts', np.float64)
        self.part = Term(g, parts, np.float64)

    def _corner(self, k: int) -> Term:
        """A coordinate of all regions."""
        x = self.g.op('Gather', [self.g.x[1], self.g.const(k, 'corner', np.int64)], axis=1)
        scaled = Term(self.g, x, self.g.dtype(1)).cast(np.float64)
        return _put(scaled * float(self.g.func.spatial_scale), [1, 2])

    def numbers(self, counts: Term) -> Term:
        """0, 1, ... up to the largest count."""
        most = Term(self.g, self.g.reduce('Max', counts.name, None), counts.dtype).cast(np.int64)
        zero, one = (self.g.const(n, 'bound', np.int64) for n in (0, 1))
        return Term(self.g, self.g.op('Range', [zero, most.name, one]), np.int64).cast(np.float64)

    def pixels(self) -> tuple[Term, Term, Term]:
        """Pixels of the parts, which of them count, and how many do."""
        begin = self.begin.op('Round')
        length = (self.end.op('Round') - begin).op('Max', 1)
        first = begin + (self.part * length / self.m).floor()
        behind = begin - (-(self.part + 1) * length / self.m).floor()
        first, behind = (_clipped(x, 0, self.n) for x in (first, behind))
        counts = behind - first
        number = self.numbers(counts)
        return _clipped(first + number, 0, self.n - 1), number < counts, counts

    def points(self, ratio: int | None) -> tuple[Term, Term, Term]:
        """Points of the parts, which of them are inside of the image, and how many there are."""
        length = (self.end - self.begin).op('Max', 1)
        share = length / self.m
        counts = share * 0 + ratio if ratio else share.op('Ceil')
        # Of the points of a part that is larger than the image, most are outside.
        kept = (((self.n + 1) * (counts / share)).op('Ceil') + 5).op('Min', counts)
        begins = self.begin + self.part * share
        skipped = ((-1 - begins) * (counts / share)).floor() - 2
        number = self.numbers(kept)
        place = _clipped(skipped, 0, counts - kept) + number
        # The order of operations matters, since points may be on the edge of the image.
        at = begins + (place + 0.5) * share / counts
        inside = (number < kept) & ~(at < -1) & ~(at > self.n)
        return _clipped(at, 0, self.n - 1), inside, counts


class _Pairs:
    """All pairs of rows and columns of regions: (regions, parts, places, parts, places, channels).

    Args:
        g (Conversion): The function.
        rows (Term): As `_Axis` has them.
        columns (Term): Likewise.
    """

    def __init__(self, g: Conversion, rows: Term, columns: Term) -> None:
        self.g = g
        image = g.wide(0)
        self.dtype = image.dtype
        self.images = g.transpose(image.name, [0, 2, 3, 1])
        number = Term(g, g.cast(g.x[2], np.int64), np.int64)
        # The shape of all pairs.
        self.zeros = (self.down(rows) + self.across(columns)).cast(np.int64) * 0
        self.number = _put(number, [1, 2, 3, 4]) + self.zeros

    def down(self, x: Term) -> Term:
        """A value of rows, beside those of columns."""
        return _put(x, [3, 4])

    def across(self, x: Term) -> Term:
        """A value of columns, beside those of rows."""
        return _put(x, [1, 2])

    def pixels(self, rows: Term, columns: Term) -> Term:
        """What the images have there."""
        places = self.down(rows).cast(np.int64), self.across(columns).cast(np.int64)
        index = [self.number, *(x + self.zeros for x in places)]
        whole = self.g.concat([_put(x, [5]).name for x in index], 5)
        return Term(self.g, self.g.op('GatherND', [self.images, whole]), self.dtype)

    def reduced(self, kind: str, x: Term) -> Term:
        """Sums or maxima over the places of each part."""
        return Term(self.g, self.g.reduce(kind, x.name, [2, 4]), x.dtype)


def _pool(g: Conversion, is_mean: bool) -> str:
    g.need(11, 'GatherND')
    (rows, has_row, n_rows), (columns, has_column, n_columns) = (
        _Axis(g, i).pixels() for i in range(2)
    )
    pairs = _Pairs(g, rows, columns)
    found = pairs.pixels(rows, columns)
    counts = pairs.down(n_rows) * pairs.across(n_columns)
    return _result(pairs, found, has_row, has_column, counts.op('Max', 1), is_mean)


def _align(g: Conversion, is_mean: bool) -> str:
    g.need(11, 'GatherND')
    (rows, has_row, n_rows), (columns, has_column, n_columns) = (
        _Axis(g, i).points(g.func.sampling_ratio[i]) for i in range(2)
    )
    pairs = _Pairs(g, rows, columns)
    lines = []
    for row in (rows.floor(), rows.op('Ceil')):
        left, right = (pairs.pixels(row, x) for x in (columns.floor(), columns.op('Ceil')))
        weight = pairs.across(columns - columns.floor()).cast(pairs.dtype)
        lines.append(_mixed(left, right, _put(weight, [5])))
    weight = pairs.down(rows - rows.floor()).cast(pairs.dtype)
    found = _mixed(lines[0], lines[1], _put(weight, [5]))
    counts = pairs.down(n_rows) * pairs.across(n_columns)
    return _result(pairs, found, has_row, has_column, counts, is_mean)


def _mixed(first: Term, second: Term, weight: Term) -> Term:
    return first * (1 - weight) + second * weight


def _result(
    pairs: _Pairs, found: Term, has_row: Term, has_column: Term, counts: Term, is_mean: bool
) -> str:
    g = pairs.g
    counted = _put(pairs.down(has_row) & pairs.across(has_column), [5])
    y = counted.where(found, 0 if is_mean else -np.inf)
    y = pairs.reduced('Sum' if is_mean else 'Max', y)
    if is_mean:
        n = Term(g, g.squeeze(counts.name, [2, 4]), counts.dtype)
        y = y / _put(n, [3]).cast(y.dtype)
    return Term(g, g.transpose(y.name, [0, 3, 1, 2]), y.dtype).cast(g.out_dtype()).name
