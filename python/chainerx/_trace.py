"""Output of a profile: the table, and the trace file."""

from __future__ import annotations

import collections.abc
import os
import struct
import threading
import typing as tp

from chainerx import _files

if tp.TYPE_CHECKING:
    from os import PathLike

    from chainerx.profiler import Row

#: Name, category, start and duration in nanoseconds, thread.
Region = tuple[str, str, int, int, int]

#: Process, thread, rows, events of the host, events of devices.
Thread = tuple[int, int, list[tp.Any], bytes, bytes]

Operands = collections.abc.Sequence[tuple[str, str | None, tuple[int, ...] | None]]

_EVENT = struct.Struct('4q')


def _text(operands: Operands | None) -> str:
    """Operands as text: ``x1 float32[2,3], x2 number``."""
    if operands is None:
        return '(others)'
    return ', '.join(
        f'{name} {dtype}[{",".join(map(str, shape))}]' if shape is not None else name
        for name, dtype, shape in operands
    )


def _bytes(n: int) -> str:
    for unit, size in (('GiB', 2**30), ('MiB', 2**20), ('KiB', 2**10)):
        if abs(n) >= size:
            return f'{n / size:.1f} {unit}'
    return f'{n} B'


def table(rows: list[Row], limit: int | None, dropped: int) -> str:
    """The rows as text; those after ``limit`` as one."""
    shown = rows if limit is None else rows[:limit]
    width = max([24, *(len(r.name) for r in shown)])
    lines = [
        f'{"kernel":<{width}}{"calls":>10}{"total ms":>12}{"self ms":>12}{"share":>8}'
        f'{"us/call":>10}{"memory":>12}{"peak":>12}'
    ]

    def line(name: str, rows: list[Row], what: str) -> str:
        calls = sum(r.calls for r in rows)
        self_time = sum(r.self_time for r in rows)
        return (
            f'{name:<{width}}{calls:>10}{sum(r.total for r in rows) * 1e3:>12.3f}'
            f'{self_time * 1e3:>12.3f}{sum(r.share for r in rows):>8.1%}'
            f'{self_time * 1e6 / calls:>10.2f}{_bytes(sum(r.bytes for r in rows)):>12}'
            f'{_bytes(max(r.peak for r in rows)):>12}  {what}'
        ).rstrip()

    for r in shown:
        if r.operands is None:
            what = _text(None)
        else:
            what = _text([*zip(r.operands, r.dtypes, r.shapes, strict=True)])
        device = r.device if what and not r.device.startswith('native:0') else ''
        lines.append(line(r.name, [r], f'{device} {what}'.strip()))
    rest = rows[len(shown) :]
    if rest:
        lines.append(line(f'({len(rest)} more)', rest, ''))
    if rows:
        lines.append(
            f'{"all":<{width}}{sum(r.calls for r in rows):>10}{"":>12}'
            f'{sum(r.self_time for r in rows) * 1e3:>12.3f}{"":>8}{"":>10}'
            f'{_bytes(sum(r.bytes for r in rows)):>12}{_bytes(max(r.peak for r in rows)):>12}'
        )
    if dropped:
        lines.append(f'{dropped} calls were not kept for the trace')
    return '\n'.join(lines)


def _events(
    threads: list[Thread], regions: list[Region], dropped: int
) -> tp.Iterator[dict[str, tp.Any]]:
    process = os.getpid()
    yield {'ph': 'M', 'name': 'process_name', 'pid': process, 'args': {'name': 'chainerx'}}
    if dropped:
        text = f'{dropped} calls are missing: there were more than trace_limit'
        yield {'ph': 'M', 'name': 'process_labels', 'pid': process, 'args': {'labels': text}}
    for thread in threading.enumerate():
        if thread.native_id is not None:
            args = {'name': thread.name}
            yield {
                **{'ph': 'M', 'name': 'thread_name', 'pid': process, 'tid': thread.native_id},
                'args': args,
            }
    for name, category, start, duration, thread_id in regions:
        yield {
            **{'ph': 'X', 'name': name, 'cat': category, 'pid': process, 'tid': thread_id},
            **{'ts': start / 1e3, 'dur': duration / 1e3},
        }
    #: The lines of streams, which have numbers above those of threads.
    lanes: dict[tuple[str, int], int] = {}
    for pid, tid, rows, events, on_device in threads:
        kinds = []
        for name, family, device, operands, *_ in rows:
            args = {'device': device}
            for operand, dtype, shape in operands or ():
                args[operand] = _text([('', dtype, shape)]).strip() or 'no array, or not looked at'
            kinds.append((name, family, args))
        for start, duration, nbytes, row in _EVENT.iter_unpack(events):
            name, family, args = kinds[row]
            yield {
                **{'ph': 'X', 'name': name, 'cat': family, 'pid': pid, 'tid': tid},
                **{'ts': start / 1e3, 'dur': duration / 1e3, 'args': {**args, 'bytes': nbytes}},
            }
        for start, duration, stream, row in _EVENT.iter_unpack(on_device):
            name, family, args = kinds[row]
            key = args['device'], stream
            if key not in lanes:
                lanes[key] = (1 << 30) + len(lanes)
                number = sum(device == key[0] for device, _ in lanes)
                yield {
                    **{'ph': 'M', 'name': 'thread_name', 'pid': pid, 'tid': lanes[key]},
                    'args': {'name': f'{key[0]}, stream {number}'},
                }
            yield {
                **{'ph': 'X', 'name': name, 'cat': family, 'pid': pid, 'tid': lanes[key]},
                **{'ts': start / 1e3, 'dur': duration / 1e3, 'args': args},
            }


def export(
    path: str | PathLike[str],
    threads: list[Thread],
    regions: list[Region],
    dropped: int,
) -> None:
    """Writes the events as a file in the format of Chrome's trace viewer."""
    import json  # here, for few programs export a trace

    with _files.replaced(path) as whole, open(whole, 'w', encoding='utf-8') as file:
        file.write('{"displayTimeUnit":"ns","otherData":')
        json.dump({'dropped': dropped}, file)
        file.write(',"traceEvents":[\n')
        for i, event in enumerate(_events(threads, regions, dropped)):
            file.write(',\n' if i else '')
            file.write(json.dumps(event))
        file.write('\n]}\n')
