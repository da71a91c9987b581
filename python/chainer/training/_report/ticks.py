"""Axes: positions and labels of their ticks."""

from __future__ import annotations

import dataclasses
import math
import typing as tp

# Beyond, differences overflow.
_HUGE: tp.Final = 1e300
_UNITS: tp.Final = ((1e3, 'k'), (1e6, 'M'), (1e9, 'G'))


@dataclasses.dataclass
class Axis:
    """A range of values, its marks, and where in it a value lies."""

    low: float
    high: float
    ticks: list[tuple[float, str]]
    is_log: bool = False

    def place(self, value: float) -> float:
        """0 at the low end to 1 at the high one."""
        value = min(max(value, self.low), self.high)
        if self.is_log:
            return _ratio(math.log10(value), math.log10(self.low), math.log10(self.high))
        return _ratio(value, self.low, self.high)


def _ratio(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 0.5


def _not_huge(value: float) -> float:
    return min(max(value, -_HUGE), _HUGE)


def linear(low: float, high: float, count: int = 6) -> Axis:
    """An axis of about ``count`` round marks.

    Args:
        low (float): The least value.
        high (float): The greatest.
        count (int): How many steps at most.
    """
    low, high = _not_huge(low), _not_huge(high)
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        # All the same: in the middle of a range that shows how large it is.
        pad = abs(low) * 0.1 or 1.0
        low, high = low - pad, high + pad
    step = 10.0 ** math.floor(math.log10((high - low) / count))
    step *= next(m for m in (1, 2, 5, 10, 20) if (high - low) / (m * step) <= count)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [i * step for i in range(first, last + 1)]
    return Axis(low, high, [(v, number(v, step)) for v in values])


def padded(low: float, high: float) -> Axis:
    """An axis with some room at its ends; that of positive values begins at 0 at the lowest.

    Args:
        low (float): The least value.
        high (float): The greatest.
    """
    pad = 0.04 * (_not_huge(high) - _not_huge(low))
    return linear(max(low - pad, 0.0) if low >= 0 else low - pad, high + pad)


def logarithmic(low: float, high: float) -> Axis:
    """An axis of logarithms, of positive values.

    Args:
        low (float): The least value.
        high (float): The greatest.
    """
    if high <= low * 1.000001:
        low, high = low / 2, high * 2
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 1:  # within a decade
        ticks = [
            (m * 10.0**e, number(m * 10.0**e, 10.0**e))
            for e in range(first - 1, last + 1)
            for m in (1, 2, 3, 5, 7)
        ]
        ticks = [(v, text) for v, text in ticks if low <= v <= high]
        if len(ticks) < 2:
            ticks = linear(low, high, 4).ticks
    else:
        step = -(-(last - first) // 6)
        ticks = [(10.0**e, _power(e)) for e in range(first, last + 1, step)]
    return Axis(low, high, ticks, is_log=True)


def _power(exponent: int) -> str:
    return number(10.0**exponent, 10.0**exponent) if -4 < exponent < 9 else f'1e{exponent}'


def number(value: float, step: float) -> str:
    """A number with as many digits as tell it from its neighbours.

    Args:
        value (float): The number.
        step (float): How far the neighbours are.
    """
    if value == 0:
        return '0'
    digits = math.floor(math.log10(abs(value))) - math.floor(math.log10(step) + 1e-9) + 1
    digits = min(max(digits, 4), 17)
    for size, unit in _UNITS:
        if size <= abs(value) < 1000 * size and abs(value) >= 1e4:
            return f'{value / size:.{max(digits, 4)}g}{unit}'
    return f'{value:.{digits}g}'.replace('e+0', 'e').replace('e+', 'e').replace('e-0', 'e-')
