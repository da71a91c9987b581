"""Curves out of a log: which values share a chart, and fewer points that look the same."""

from __future__ import annotations

import dataclasses
import itertools
import math
import typing as tp

import numpy as np

if tp.TYPE_CHECKING:
    from chainer._typing import Row

# Keys of log entries that are not observed values.
COUNTS: tp.Final = ('epoch', 'iteration', 'elapsed_time')
_MOST_POINTS: tp.Final = 1000
_MANY: tp.Final = 200


@dataclasses.dataclass
class Series:
    """The values of a name over iterations; both may have any length and be anything."""

    name: str
    x: np.ndarray
    y: np.ndarray

    @property
    def finite(self) -> np.ndarray:
        """Which values can be drawn."""
        return np.isfinite(self.y) & np.isfinite(self.x)


def number(value: object) -> float | None:
    """Return a value of an entry as a float, or None, because `postprocess` may put any object
    there."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def collect(log: list[Row]) -> dict[str, Series]:
    """All numbers of a log by name, in the order in which names come."""
    names = dict.fromkeys(k for entry in log for k in entry if k not in COUNTS)
    found = {}
    for name in names:
        points = []
        for i, entry in enumerate(log):
            y = number(entry.get(name))
            if y is not None:
                x = number(entry.get('iteration'))
                points.append((float(i) if x is None else x, y))
        if points:
            x_values, y_values = np.array(points).T
            found[str(name)] = Series(str(name), x_values, y_values)
    return found


def group(series: dict[str, Series]) -> list[list[Series]]:
    """Groups the lines of one chart: ``main/loss`` with ``validation/main/loss``."""
    charts: dict[str, list[Series]] = {}
    for name in series:
        parts = name.split('/')
        tails = ('/'.join(parts[i:]) for i in range(len(parts) - 1, 0, -1))
        base = next((tail for tail in tails if tail in series), name)
        charts.setdefault(base, []).append(series[name])
    return [sorted(chart, key=lambda one: one.name.count('/')) for chart in charts.values()]


def thin(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most a thousand points with the same outline: least and greatest of each stretch."""
    if len(x) <= _MOST_POINTS:
        return x, y
    edges = np.linspace(0, len(y), _MOST_POINTS // 2 + 1).astype(int)
    keep: set[int] = {0, len(y) - 1}
    for low, high in itertools.pairwise(edges):
        part = y[low:high]
        # NaNs would be all that is found.
        if np.isfinite(part).any():
            keep.update((low + int(np.nanargmin(part)), low + int(np.nanargmax(part))))
        else:
            keep.add(int(low))
    places = np.array(sorted(keep))
    return x[places], y[places]


def is_noisy(y: np.ndarray) -> bool:
    """Whether so many values go up and down so much that their means tell more."""
    y = y[np.isfinite(y)]
    if len(y) < _MANY:
        return False
    with np.errstate(over='ignore', invalid='ignore'):
        return bool(np.abs(np.diff(y)).sum() > 5 * (y.max() - y.min()))


def smooth(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return at most a thousand means of neighbours, each of a fiftieth or less; non-finite values
    are left out."""
    finite = np.isfinite(y)
    count = min(len(y), _MOST_POINTS)
    starts = np.linspace(0, len(y), count, endpoint=False).astype(int)
    window = np.ones(max(count // 50, 1) | 1)

    def total(values: np.ndarray) -> np.ndarray:
        return np.convolve(np.add.reduceat(values, starts), window, 'same')

    share = len(window) * -(-len(y) // count)
    with np.errstate(invalid='ignore', divide='ignore'):
        # It divides first, because sums of large values would overflow.
        means = total(np.where(finite, y / share, 0.0)) / total(finite / share)
    means[np.add.reduceat(finite.astype(int), starts) == 0] = np.nan
    return x[starts], means


def pace(log: list[Row]) -> Series | None:
    """Iterations per second between entries."""
    pairs = [(number(e.get('iteration')), number(e.get('elapsed_time'))) for e in log]
    points = [(i, t) for i, t in pairs if i is not None and t is not None]
    if not points:
        return None
    x, t = np.array([(0.0, 0.0), *points]).T
    took, count = np.diff(t), np.diff(x)
    good = (took > 0) & (count > 0)
    if not good.any():
        return None
    return Series('iterations per second', x[1:][good], count[good] / took[good])


def epochs(log: list[Row]) -> Series | None:
    """Seconds per epoch, over epochs."""
    ends: dict[float, float] = {}
    for entry in log:
        epoch, seconds = number(entry.get('epoch')), number(entry.get('elapsed_time'))
        if epoch is not None and seconds is not None and epoch >= 1:
            # The first entry with that number is the one at its end.
            ends.setdefault(epoch, seconds)
    x, t = np.array([(0.0, 0.0), *ends.items()]).T
    took, count = np.diff(t), np.diff(x)
    good = (took > 0) & (count > 0)
    return (
        Series('seconds per epoch', x[1:][good], took[good] / count[good]) if good.any() else None
    )
