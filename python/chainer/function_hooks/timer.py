"""A hook that measures the time of functions."""

from __future__ import annotations

import sys
import typing as tp

import chainerx

from chainer._diagnostics import moments
from chainer.backends import cuda
from chainer.function_hook import FunctionHook

if tp.TYPE_CHECKING:
    from chainer._graph.function_node import FunctionNode
    from chainer._typing import Arrays


class TimerHook(FunctionHook):
    """Measures the time of each function, forward and backward.

    On a GPU it is the time between two events of the stream, and each function is waited for; on
    other devices that compute asynchronously a clock is read when the device is done.

    Attributes:
        call_history (list of (str, float)): Function names and seconds, in order.
    """

    name = 'TimerHook'
    table: tp.ClassVar = {'sec': 1, 'ms': 10**3, 'us': 10**6, 'ns': 10**9}

    def __init__(self) -> None:
        self.call_history: list[tuple[str, float]] = []
        self._running: list[moments.Moment] = []
        self._total_time = 0.0

    def _start(self, in_data: Arrays) -> None:
        self._running.append(_now(in_data))

    def _stop(self, function: FunctionNode, in_data: Arrays) -> None:
        elapsed = moments.seconds(self._running.pop(), _now(in_data))
        self.call_history.append((function._impl_name, elapsed))
        if not self._running:  # the time of nested functions is part of it
            self._total_time += elapsed

    def forward_preprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        self._start(in_data)

    def forward_postprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        self._stop(function, in_data)

    def backward_preprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        self._start(out_grad)

    def backward_postprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        self._stop(function, out_grad)

    def total_time(self) -> float:
        """Seconds in all functions together."""
        return self._total_time

    def summary(self) -> dict[str, dict[str, float]]:
        """By function name: ``elapsed_time`` in seconds, and ``occurrence``, how often."""
        rows: dict[str, dict[str, float]] = {}
        for name, elapsed in self.call_history:
            row = rows.setdefault(name, {'elapsed_time': 0.0, 'occurrence': 0})
            row['elapsed_time'] += elapsed
            row['occurrence'] += 1
        return rows

    def _choose_unit(self, seconds: float) -> str:
        """The first unit in which the number is at least 1."""
        return next((unit for unit, factor in self.table.items() if seconds * factor >= 1), 'ns')

    def print_report(self, unit: str = 'auto', file: tp.TextIO | None = None) -> None:
        """Prints the summary as a table.

        Args:
            unit (str): 'sec', 'ms', 'us' or 'ns'; 'auto' chooses for each row, and 'auto_foreach'
                too.
            file: Where to; default: standard output.

        Raises:
            ValueError: If the unit is not known.
        """
        if unit not in (*self.table, 'auto', 'auto_foreach'):
            raise ValueError(f'TimerHook.print_report: unknown unit {unit!r}')
        rows = [('FunctionName', 'ElapsedTime', 'Occurrence')]
        summary = self.summary()
        if unit == 'auto' and summary:
            unit = self._choose_unit(max(row['elapsed_time'] for row in summary.values()))
        for name, row in summary.items():
            u = self._choose_unit(row['elapsed_time']) if unit == 'auto_foreach' else unit
            seconds = row['elapsed_time']
            rows.append((name, f'{seconds * self.table[u]:.2f}{u}', str(row['occurrence'])))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        for cells in rows:
            line = '  '.join(c.rjust(w) for c, w in zip(cells, widths, strict=True))
            print(line, file=file or sys.stdout)


def _now(arrays: Arrays) -> moments.Moment:
    """A moment on the device of the first array that has one."""
    for x in arrays:
        if isinstance(x, cuda.ndarray):
            cuda.Stream.null.synchronize()
            break
        if isinstance(x, chainerx.ndarray):
            return moments.now(x.device)
    return moments.now(None)
