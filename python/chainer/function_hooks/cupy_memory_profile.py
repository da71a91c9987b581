"""A hook that measures the memory that functions take from CuPy's pool."""

from __future__ import annotations

import collections
import sys
import typing as tp

from chainer.backends import cuda
from chainer.function_hook import FunctionHook

if tp.TYPE_CHECKING:
    from chainer._graph.function_node import FunctionNode
    from chainer._typing import Arrays


class CupyMemoryProfileHook(FunctionHook):
    """Measures how many bytes each function uses, and acquires from the device.

    Attributes:
        call_history (list of (str, int, int)): Function names, bytes used, bytes acquired.

    Raises:
        RuntimeError: If CuPy is not available.
    """

    name = 'CupyMemoryProfileHook'
    _units: tp.ClassVar = {'B': 1, 'KB': 2**10, 'MB': 2**20, 'GB': 2**30, 'TB': 2**40, 'PB': 2**50}

    def __init__(self) -> None:
        cuda.check_cuda_available()
        self.call_history: list[tuple[str, int, int]] = []
        self._running: list[tuple[int, int]] = []
        self._total_used = 0
        self._total_acquired = 0

    @staticmethod
    def _now() -> tuple[int, int]:
        pool = cuda.cupy.get_default_memory_pool()
        return pool.used_bytes(), pool.total_bytes()

    def _stop(self, function: FunctionNode) -> None:
        start, now = self._running.pop(), self._now()
        used, acquired = now[0] - start[0], now[1] - start[1]
        self.call_history.append((function._impl_name, used, acquired))
        if not self._running:
            self._total_used += used
            self._total_acquired += acquired

    def forward_preprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        self._running.append(self._now())

    def forward_postprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        self._stop(function)

    def backward_preprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        self._running.append(self._now())

    def backward_postprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        self._stop(function)

    def total_used_bytes(self) -> int:
        """Bytes that all functions together use."""
        return self._total_used

    def total_acquired_bytes(self) -> int:
        """Bytes that all functions together made the pool acquire."""
        return self._total_acquired

    def summary(self) -> dict[str, dict[str, int]]:
        """By function name: ``used_bytes``, ``acquired_bytes``, ``occurrence``."""
        rows: dict[str, dict[str, int]] = collections.defaultdict(
            lambda: {'used_bytes': 0, 'acquired_bytes': 0, 'occurrence': 0}
        )
        for name, used, acquired in self.call_history:
            rows[name]['used_bytes'] += used
            rows[name]['acquired_bytes'] += acquired
            rows[name]['occurrence'] += 1
        return dict(rows)

    def print_report(self, unit: str = 'auto', file: tp.TextIO | None = None) -> None:
        """Prints the summary as a table.

        Args:
            unit (str): Of the numbers: 'B', 'KB' and so on; 'auto' or 'auto_foreach' picks the unit
                that fits each.
            file (file): Where to; standard output if None.

        Raises:
            ValueError: For an unknown unit.
        """
        if unit not in (*self._units, 'auto', 'auto_foreach'):
            raise ValueError(f'CupyMemoryProfileHook.print_report: unknown unit {unit!r}')
        rows = [('FunctionName', 'UsedBytes', 'AcquiredBytes', 'Occurrence')]
        for name, row in self.summary().items():
            used = self._format(row['used_bytes'], unit)
            acquired = self._format(row['acquired_bytes'], unit)
            rows.append((name, used, acquired, str(row['occurrence'])))
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        for cells in rows:
            line = '  '.join(c.rjust(w) for c, w in zip(cells, widths, strict=True))
            print(line, file=file or sys.stdout)

    def _format(self, n: int, unit: str) -> str:
        if unit.startswith('auto'):
            unit = [u for u, size in self._units.items() if abs(n) >= size or u == 'B'][-1]
        return f'{n / self._units[unit]:.2f}{unit}'
