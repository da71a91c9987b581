"""The part of the check that is about memory, its limit, errors and the profiler."""

from __future__ import annotations

import json
import pathlib
import tempfile
import typing as tp

import chainerx
from chainerx import cuda

if tp.TYPE_CHECKING:
    from chainerx.cuda._check_values import Checks


def check_memory(checks: Checks) -> None:
    device = checks.device

    def fits() -> str:
        before = cuda.memory_stats(device)
        x = chainerx.ones(2**22, 'float32', device=device)
        more = cuda.memory_stats(device)
        del x
        after = cuda.memory_stats(device)
        used = [stats['in_use'] or 0 for stats in (before, more, after)]
        if used[1] - used[0] != 2**24 or used[2] != used[0]:
            return f'16 MiB of an array: in use were {used} bytes'
        return ''

    def exceeds() -> str:
        x = chainerx.arange(1000, dtype='float32', device=device)
        cuda.empty_cache(device)
        stats = cuda.memory_stats(device)
        cuda.set_memory_limit((stats['in_use'] or 0) + (stats['cached'] or 0) + 2**26, device)
        try:
            chainerx.empty(2**26, 'uint8', device=device)
            chainerx.empty(2**28, 'uint8', device=device)
        except MemoryError as error:
            if str(2**28) not in str(error):
                return f'the error does not say how much was asked for: {error}'
        else:
            return 'an array beyond the limit was allocated'
        finally:
            cuda.set_memory_limit(None, device)
        total = float(chainerx.sum(x))
        return '' if total == 499500 else f'afterwards a sum is {total}'

    def is_kept() -> str:
        sizes = []
        for _ in range(50):
            chainerx.ones(2**20, 'float32', device=device)
            stats = cuda.memory_stats(device)
            sizes.append((stats['in_use'] or 0) + (stats['cached'] or 0))
        return '' if sizes[-1] == sizes[3] else f'50 arrays of 4 MiB: taken were {sizes} bytes'

    checks.expect('memory in use', fits)
    checks.expect('memory limit', exceeds)
    checks.expect('memory that is used again', is_kept)


def check_errors(checks: Checks) -> None:
    device = checks.device

    def bad_index() -> str:
        x = chainerx.arange(10, dtype='float32', device=device)
        try:
            y = chainerx.take(x, chainerx.array([1, 12, 3], 'int64', device=device), 0)
            chainerx.get_device(device).synchronize()
        except IndexError as error:
            if '12' not in str(error):
                return f'the error does not name the index: {error}'
        else:
            return f'no error, but {y}'
        total = float(chainerx.sum(x))
        return '' if total == 45 else f'afterwards a sum is {total}'

    checks.expect('index out of range', bad_index)


def check_profiler(checks: Checks) -> None:
    device = checks.device

    def counts() -> str:
        x = chainerx.ones((1000, 1000), 'float32', device=device)
        with chainerx.profile(trace=True) as profile:
            for _ in range(3):
                chainerx.exp(x)
        rows = {row.name: row for row in profile.rows}
        row = rows.get('Exp')
        if row is None or row.calls != 3 or row.device != device:
            return f'3 calls of Exp are {rows}'
        if not 0 < row.self_time < 10:
            return f'3 calls of Exp took {row.self_time} s'
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, 'trace.json')
            profile.export_trace(path)
            events = json.loads(path.read_text())
        events = events['traceEvents'] if isinstance(events, dict) else events
        n = sum(event.get('name', '').startswith('Exp') for event in events)
        return (
            '' if n >= 6 else f'the trace has {n} events, expected 3 of the host and 3 of the GPU'
        )

    checks.expect('profiler', counts)


def check_runtime(checks: Checks) -> None:
    check_memory(checks)
    check_errors(checks)
    check_profiler(checks)
