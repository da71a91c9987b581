"""A hook that measures the memory that functions take from the pool of a GPU."""

from __future__ import annotations

import collections
import itertools
import sys
import typing as tp

import chainerx

from chainer.backends import cuda
from chainer.function_hook import FunctionHook

if tp.TYPE_CHECKING:
    from chainer._graph.function_node import FunctionNode
    from chainer._typing import Arrays


class CupyMemoryProfileHook(FunctionHook):
    """Measures how many bytes each function uses, and acquires from the device.

    Both of CuPy's pool and of those of the devices ``cuda`` of chainerx that it computes on.

    Attributes:
        call_history (list of (str, int, int)): Function names, bytes used, bytes acquired.

    Raises:
        RuntimeError: If there is neither CuPy nor a GPU that chainerx can use.
    """

    name = 'CupyMemoryProfileHook'
    _units: tp.ClassVar = {'B': 1, 'KB': 2**10, 'MB': 2**20, 'GB': 2**30, 'TB': 2**40, 'PB': 2**50}

    def __init__(self) -> None:
        if not chainerx.cuda.is_available():
            cuda.check_cuda_available()
        self.call_history: list[tuple[str, int, int]] = []
        # Devices, and the bytes of these before.
        self._running: list[tuple[set[chainerx.Device], tuple[int, int]]] = []
        self._total_used = 0
        self._total_acquired = 0

    def _start(self, *arrays: Arrays) -> None:
        devices = {
            x.device
            for x in itertools.chain(*arrays)
            if isinstance(x, chainerx.ndarray) and x.device.backend.name == 'cuda'
        }
        self._running.append((devices, _read(devices)))

    def _stop(self, function: FunctionNode) -> None:
        devices, start = self._running.pop()
        now = _read(devices)
        used, acquired = now[0] - start[0], now[1] - start[1]
        self.call_history.append((function._impl_name, used, acquired))
        if not self._running:
            self._total_used += used
            self._total_acquired += acquired

    def forward_preprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        self._start(in_data)

    def forward_postprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        self._stop(function)

    def backward_preprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        self._start(in_data, out_grad)

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


def _read(devices: set[chainerx.Device]) -> tuple[int, int]:
    """Bytes in use, and bytes that the pools hold."""
    used = acquired = 0
    if cuda.available:
        pool = cuda.cupy.get_default_memory_pool()
        used, acquired = pool.used_bytes(), pool.total_bytes()
    for device in devices:
        stats = chainerx.memory_stats(device)
        in_use = stats['in_use'] or 0
        used += in_use
        acquired += in_use + (stats['cached'] or 0)
    return used, acquired
