"""`TimerHook`: how long links take."""

from __future__ import annotations

import sys
import typing as tp

import chainerx

from chainer import backend, link_hook
from chainer._diagnostics import moments
from chainer.backends import cuda
from chainer.link import Link

if tp.TYPE_CHECKING:
    from chainer.link_hook import _ForwardPostprocessCallbackArgs, _ForwardPreprocessCallbackArgs


class TimerHook(link_hook.LinkHook):
    """Measures the forward of links, those inside included.

    Attributes:
        call_history: Pairs of the name of a link's class and seconds, in order of ending.
    """

    name = 'TimerHook'
    table: tp.ClassVar = {'sec': 1, 'ms': 10**3, 'us': 10**6, 'ns': 10**9}

    def __init__(self) -> None:
        self.call_history: list[tuple[str, float]] = []
        self._running_stack: list[tuple[backend.Device, tp.Any]] = []
        self._total_time = 0.0

    def forward_preprocess(self, args: _ForwardPreprocessCallbackArgs) -> None:
        device = args.link.device
        self._running_stack.append((device, _now(device)))

    def forward_postprocess(self, args: _ForwardPostprocessCallbackArgs) -> None:
        link = args.link
        device, start = self._running_stack.pop()
        elapsed = _seconds(start, _now(device))
        self.call_history.append((type(link).__name__, elapsed))
        if not self._running_stack:
            self._total_time += elapsed

    def _forward_aborted(self, link: Link) -> None:
        self._running_stack.pop()

    def total_time(self) -> float:
        """Seconds in all links, those inside others counted once."""
        return self._total_time

    def summary(self) -> dict[str, dict[str, tp.Any]]:
        """Return ``elapsed_time`` in seconds and ``occurrence`` by name of class."""
        summary: dict[str, dict[str, tp.Any]] = {}
        for name, elapsed in self.call_history:
            record = summary.setdefault(name, {'elapsed_time': 0.0, 'occurrence': 0})
            record['elapsed_time'] += elapsed
            record['occurrence'] += 1
        return summary

    def print_report(self, unit: str = 'auto', file: tp.TextIO | None = None) -> None:
        """Print the summary as a table.

        Args:
            unit: ``'sec'``, ``'ms'``, ``'us'``, ``'ns'``, or ``'auto'`` for the unit that fits the
                longest.
            file: Where to; standard output by default.
        """
        if unit != 'auto' and unit not in self.table:
            raise KeyError(f'unit is {unit!r}, expected auto, {", ".join(self.table)}')
        summary = self.summary()
        if unit == 'auto':
            longest = max((record['elapsed_time'] for record in summary.values()), default=0.0)
            factor, unit = self._choose_unit(longest)
        else:
            factor = self.table[unit]
        rows = [('LinkName', 'ElapsedTime', 'Occurrence')]
        for name, record in summary.items():
            time_ = f'{record["elapsed_time"] * factor:.2f}{unit}'
            rows.append((name, time_, str(record['occurrence'])))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        for row in rows:
            cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            print('  '.join(cells), file=sys.stdout if file is None else file)

    def _choose_unit(self, second: float) -> tuple[int, str]:
        for unit, factor in self.table.items():
            if second * factor >= 1:
                return factor, unit
        return self.table['ns'], 'ns'


def _now(device: backend.Device) -> tp.Any:
    """A moment on a device: an event of a GPU, or seconds."""
    if isinstance(device, backend.GpuDevice):
        event = cuda.Event()
        event.record()
        return event
    return moments.now(device.device if isinstance(device, backend.ChainerxDevice) else None)


def _seconds(start: tp.Any, stop: tp.Any) -> float:
    if isinstance(stop, float | chainerx.cuda.Event):
        return moments.seconds(start, stop)
    stop.synchronize()
    return cuda.cupy.cuda.get_elapsed_time(start, stop) / 1000
