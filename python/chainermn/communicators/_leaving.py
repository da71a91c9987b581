"""The end of communicators and of processes: who waits for a process that left hears of it.

A process that has left still takes part in the comparisons of `Agreement`, until all have left. So
those that go on without it raise, instead of waiting for ever.
"""

from __future__ import annotations

import atexit
import os
import time
import typing as tp

if tp.TYPE_CHECKING:
    from chainermn.communicators._agreement import Agreement

# Until `leave`, though nobody may have the communicator any more: others may have it.
_present: list[Agreement] = []
_leaving: list[Agreement] = []
_mpi: tp.Any = None
_process = 0  # processes forked from it are none of MPI

_POLL_SECONDS: tp.Final = 0.002


def enter(agreement: Agreement, mpi: tp.Any) -> None:
    """Begins to consider the processes of a communicator at the end of this one."""
    global _mpi, _process
    if _mpi is None:
        _mpi, _process = mpi, os.getpid()
        atexit.register(_leave_all)
    _present.append(agreement)


def leave(agreement: Agreement) -> None:
    """Ends the part of this process in a communicator, without waiting for others."""
    if agreement in _present:
        _present.remove(agreement)
        agreement.start_to_leave()
        _leaving.append(agreement)
    _answer()


def _answer() -> None:
    _leaving[:] = [agreement for agreement in _leaving if not agreement.has_ended()]


def _leave_all() -> None:
    """Waits, as the end of MPI would, until all processes end."""
    if os.getpid() != _process or _mpi.Is_finalized():
        return
    for agreement in list(_present):
        leave(agreement)
    while _leaving:
        time.sleep(_POLL_SECONDS)
        _answer()
