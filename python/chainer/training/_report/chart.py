"""Draws a chart as SVG: lines, axes, and readouts under the pointer, without a script."""

from __future__ import annotations

import itertools
import math
import typing as tp

import numpy as np

from chainer.training._report import ticks
from chainer.training._report.elements import Element, add
from chainer.training._report.series import Series, is_noisy, smooth, thin

WIDTH: tp.Final = 400
HEIGHT: tp.Final = 230
_RIGHT, _TOP, _BOTTOM = 16, 28, 32
_COLORS: tp.Final = 8
# A line with fewer points has each of them marked.
_MARKED: tp.Final = 40
_LOST: tp.Final = 60
# As many values as there is room for.
_WRITTEN: tp.Final = 4


def color(index: int) -> str:
    """The class of the n-th line."""
    return f'c{index % _COLORS}'


def has_log(lines: list[Series]) -> bool:
    """Whether a logarithmic axis shows more: where positive values differ by much."""
    values = np.concatenate([line.y[line.finite] for line in lines])
    positive = values[values > 0]
    return len(positive) > 1 and positive.max() / positive.min() >= 3


def draw(
    parent: Element,
    lines: list[Series],
    log: bool = False,
    class_: str = '',
    unit: str = 'iteration',
    readouts: int = 120,
) -> None:
    """Adds a chart.

    Args:
        parent (Element): The parent element.
        lines (list of Series): The lines; at least one of their values is finite.
        log (bool): Whether the axis of values is logarithmic.
        class_ (str): The chart's class.
        unit (str): The unit of the horizontal axis.
        readouts (int): How many places of the pointer there are at most.
    """
    svg = add(
        parent,
        'svg',
        class_=f'chart {class_}',
        viewBox=f'0 0 {WIDTH} {HEIGHT}',
        role='img',
        aria_label=', '.join(line.name for line in lines) + (', logarithmic' if log else ''),
    )
    shown = [(line.finite & (line.y > 0)) if log else line.finite for line in lines]
    x = np.concatenate([line.x[mask] for line, mask in zip(lines, shown, strict=True)])
    y = np.concatenate([line.y[mask] for line, mask in zip(lines, shown, strict=True)])
    make_axis = ticks.logarithmic if log else ticks.padded
    x_axis = ticks.linear(float(x.min()), float(x.max()))
    plot = _Plot(svg, x_axis, make_axis(float(y.min()), float(y.max())))
    _draw_axes(plot, unit)
    for i, (line, mask) in enumerate(zip(lines, shown, strict=True)):
        _draw_line(plot, line, mask, color(i))
    _draw_readouts(plot, lines, shown, readouts)


class _Plot:
    """Where values lie in the picture."""

    def __init__(self, svg: Element, x_axis: ticks.Axis, y_axis: ticks.Axis) -> None:
        self.svg = svg
        self.x_axis, self.y_axis = x_axis, y_axis
        # Room for the longest number beside the axis.
        self.left = 16 + 6.3 * max(len(text) for _, text in (*y_axis.ticks, (0.0, '0.00')))
        self.right, self.bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM

    def x(self, value: float) -> str:
        return f'{self.left + self.x_axis.place(value) * (self.right - self.left):.1f}'

    def y(self, value: float) -> str:
        return f'{self.bottom - self.y_axis.place(value) * (self.bottom - _TOP):.1f}'


def _draw_axes(plot: _Plot, unit: str) -> None:
    svg, left, right, bottom = plot.svg, f'{plot.left:.1f}', plot.right, plot.bottom
    for value, text in plot.y_axis.ticks:
        y = plot.y(value)
        add(svg, 'path', class_='grid', d=f'M{left} {y}H{right}')
        add(svg, 'text', text, class_='ticky', x=f'{plot.left - 7:.1f}', y=f'{float(y) + 4:.1f}')
    for value, text in plot.x_axis.ticks:
        if value == int(value):
            x = plot.x(value)
            add(svg, 'path', class_='axis', d=f'M{x} {bottom}v4')
            add(svg, 'text', text, class_='tickx', x=x, y=bottom + 17)
    add(svg, 'path', class_='axis', d=f'M{left} {bottom}H{right}')
    add(svg, 'text', unit, class_='label', x=right, y=HEIGHT - 2)


def _draw_line(plot: _Plot, line: Series, mask: np.ndarray, class_: str) -> None:
    y = np.where(mask, line.y, np.nan)
    if is_noisy(y):
        _draw_path(plot, line.x, y, f'{class_} faint')
        _draw_path(plot, *smooth(line.x, y), class_)
    else:
        _draw_path(plot, line.x, y, class_)
    lost = line.x[~mask & np.isfinite(line.x)]
    if len(lost):
        places = lost[np.linspace(0, len(lost) - 1, min(len(lost), _LOST)).astype(int)]
        marks = ''.join(f'M{plot.x(v)} {_TOP - 3}l4 -5h-8z' for v in places.tolist())
        add(plot.svg, 'path', class_=f'lost {class_}', d=marks)


def _draw_path(plot: _Plot, x: np.ndarray, y: np.ndarray, class_: str) -> None:
    x, y = thin(x, y)
    pieces: list[list[str]] = [[]]  # without the gaps
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        if math.isfinite(a) and math.isfinite(b):
            pieces[-1].append(f'{plot.x(a)} {plot.y(b)}')
        elif pieces[-1]:
            pieces.append([])
    if lines := ''.join('M' + 'L'.join(piece) for piece in pieces if len(piece) > 1):
        add(plot.svg, 'path', class_=f'line {class_}', d=lines)
    # A point between gaps has no line to be seen by; a stroke of no length has round ends.
    marked = [p for piece in pieces for p in piece if len(piece) == 1 or len(x) <= _MARKED]
    if marked:
        add(plot.svg, 'path', class_=f'dots {class_}', d=''.join(f'M{p}h0' for p in marked))


def _draw_readouts(plot: _Plot, lines: list[Series], shown: list[np.ndarray], most: int) -> None:
    """A strip for each place of the pointer, with the values there, which CSS shows."""
    at = np.unique(np.concatenate([line.x[np.isfinite(line.x)] for line in lines]))
    at = at[np.linspace(0, len(at) - 1, min(len(at), most)).astype(int)]
    places = [float(plot.x(v)) for v in at.tolist()]
    middles = [(a + b) / 2 for a, b in itertools.pairwise(places)]
    starts, ends = [plot.left, *middles], [*middles, float(plot.right)]
    for value, place, start, end in zip(at.tolist(), places, starts, ends, strict=True):
        strip = add(plot.svg, 'g', class_='strip')
        add(strip, 'rect', x=f'{start:.1f}', width=f'{end - start:.1f}', height=HEIGHT)
        add(strip, 'path', class_='cursor', d=f'M{place:.1f} {_TOP}V{plot.bottom}')
        text = add(strip, 'text', class_='readout', x=f'{plot.left:.1f}', y=14)
        add(text, 'tspan', f'{value:,.0f}')
        for i, (line, mask) in enumerate(zip(lines, shown, strict=True)):
            index = int(np.searchsorted(line.x, value))
            if index == len(line.x) or line.x[index] != value:
                continue
            found = float(line.y[index])
            if i < _WRITTEN:
                add(text, 'tspan', f'\u25cf {found:.5g}', class_=color(i), dx=10)
            if mask[index]:
                add(strip, 'circle', class_=color(i), cx=f'{place:.1f}', cy=plot.y(found), r=4)
