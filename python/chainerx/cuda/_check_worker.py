"""Runs the parts of the check in processes of their own: one that dies does not end the others."""

from __future__ import annotations

import multiprocessing
import typing as tp

import chainerx

if tp.TYPE_CHECKING:
    from multiprocessing.connection import Connection

Report = dict[str, tp.Any]
#: Runs the part of a name on a device.
Run = tp.Callable[[str, str], Report]


def is_usable(device: str) -> bool:
    """Returns whether a device still works: after an illegal address all calls fail."""
    for _ in range(2):  # the first one may report an index of before
        try:
            chainerx.get_device(device).synchronize()
        except Exception:
            continue
        return True
    return False


def run_part(run: Run, name: str, device: str) -> tuple[Report, bool]:
    """Returns the result of a part, or its error; and whether others can follow."""
    try:
        report = run(name, device)
    except Exception as error:  # whatever it is, other parts are of interest
        report = {'error': f'{type(error).__name__}: {error}'.splitlines()[0]}
    return report, is_usable(device)


def _work(connection: Connection, run: Run, names: list[str], device: str) -> None:
    for name in names:
        report, can_go_on = run_part(run, name, device)
        connection.send((report, can_go_on))
        if not can_go_on:
            return


def run_parts(
    run: Run, names: tp.Sequence[str], device: str, limit: float
) -> tp.Iterator[tuple[str, Report]]:
    """Yields the result of each part.

    They run in one process, and in a new one after a part that ends the process, leaves the GPU
    unusable, or takes longer than ``limit`` seconds.
    """
    context = multiprocessing.get_context('spawn')
    waiting = list(names)
    while waiting:
        ours, its = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(its, run, waiting, device), daemon=True)
        process.start()
        its.close()
        try:
            can_go_on = True
            while waiting and can_go_on:
                try:
                    if ours.poll(limit):
                        report, can_go_on = ours.recv()
                    else:
                        report, can_go_on = {'error': f'no result in {limit:g} s'}, False
                except EOFError:
                    process.join()
                    report, can_go_on = {'error': f'it ended with {process.exitcode}'}, False
                yield waiting.pop(0), report
        finally:
            process.kill()
            process.join()
            ours.close()
