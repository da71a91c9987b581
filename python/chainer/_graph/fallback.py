"""Keeps the books of functions that left the fast path of chainerx arrays."""

from __future__ import annotations

import collections
import collections.abc as c
import contextlib
import typing as tp
import warnings

import chainerx
from chainerx._core import engine

from chainer import backend, configuration
from chainer.backends._chainerx import to_fallback
from chainer.warnings import PerformanceWarning


class _Fallback:
    """The result of ``forward_chainerx`` that asks for a computation with NumPy or CuPy."""

    def __repr__(self) -> str:
        return 'Fallback'


Fallback: tp.Final = _Fallback()

_counts: collections.Counter[tuple[str, str, str]] = collections.Counter()


def note(function: str, shapes: str, reason: str) -> None:
    """Counts a fallback; warns or raises as ``chainer.config.chainerx_fallback`` says.

    Raises:
        RuntimeError: If fallbacks are forbidden (``'error'``).
    """
    mode = configuration.config.chainerx_fallback
    if mode == 'error':
        raise RuntimeError(
            f'{function}: no chainerx implementation for inputs {shapes} ({reason}), and '
            "chainer.config.chainerx_fallback is 'error'"
        )
    _counts[function, shapes, reason] += 1
    if mode == 'warn':
        text = f'{function}: computed outside of chainerx for inputs {shapes} ({reason})'
        warnings.warn(text, PerformanceWarning, stacklevel=4)
    elif mode != 'allow':
        raise ValueError(
            f"chainer.config.chainerx_fallback: expected 'allow', 'warn' or 'error', got {mode!r}"
        )


def count(function: str, shapes: str, reason: str) -> None:
    """Counts calls that left the fast path by the user's own wish, and nothing more."""
    _counts[function, shapes, reason] += 1


@contextlib.contextmanager
def converted_attributes(owner: object, device: backend.Device) -> c.Iterator[None]:
    """Attributes that are chainerx arrays are of NumPy or CuPy meanwhile, over the same memory.

    Afterwards they are chainerx arrays again, and so are those that were assigned meanwhile:
    backward meets them together with gradients, which are of chainerx.
    """
    attributes = vars(owner)
    before = {name: x for name, x in attributes.items() if isinstance(x, chainerx.ndarray)}
    attributes.update({name: to_fallback(x) for name, x in before.items()})
    lent = dict(attributes)
    try:
        yield
    finally:
        for name, now in list(attributes.items()):
            if now is not lent.get(name):
                attributes[name] = _to_chainerx(now, device)
            elif name in before:
                attributes[name] = before[name]


def _to_chainerx(value: object, device: backend.Device) -> tp.Any:
    if engine.kind(value) not in ('numpy', 'cupy') or hasattr(value, 'mask'):
        return value
    try:
        return device.send(value)
    except (chainerx.DtypeError, chainerx.DimensionError):  # arrays that chainerx can't hold
        return value


class FallbackReport(list[tuple[str, str, str, int]]):
    """Rows of (function, input shapes, reason, count), most frequent first; prints as a table."""

    def __str__(self) -> str:
        if not self:
            return 'no function has left the fast path of chainerx'
        rows = [('count', 'function', 'inputs', 'reason')]
        rows += [(str(n), function, shapes, reason) for function, shapes, reason, n in self]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        return '\n'.join(
            '  '.join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[3]])
            for row in rows
        )


def fallback_report(reset: bool = False) -> FallbackReport:
    """Which functions left the fast path of chainerx arrays, with what inputs, why, and how often.

    Args:
        reset (bool): Whether to count from zero afterwards.

    Returns:
        FallbackReport: A list of tuples, the most frequent first; prints as a table.
    """
    report = FallbackReport((*key, n) for key, n in _counts.most_common())
    if reset:
        _counts.clear()
    return report
