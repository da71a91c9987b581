"""An exception in one process ends all: the others would wait for it for ever."""

from __future__ import annotations

import os
import sys
import time
import types
import typing as tp

_SECONDS_TO_READ: tp.Final = 0.3  # mpiexec drops what it has not read when processes are aborted

_previous: tp.Any = None
_process = 0  # where it was added; processes forked from that are none of MPI


def add_hook() -> None:
    """Makes an exception that nobody handles end all processes that ``mpiexec`` started.

    The process that raises prints the traceback and its rank before. `create_communicator` calls
    this where there are several processes; with the environment variable
    ``CHAINERMN_FORCE_ABORT_ON_EXCEPTION``, the import of chainermn does. A second call does
    nothing.
    """
    global _previous, _process
    _process = os.getpid()
    if sys.excepthook is not _end_all:
        _previous = sys.excepthook
        sys.excepthook = _end_all


def _end_all(
    kind: type[BaseException], error: BaseException, traceback: types.TracebackType | None
) -> None:
    (_previous or sys.__excepthook__)(kind, error, traceback)
    if os.getpid() != _process:
        return
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError):
        return
    if not MPI.Is_initialized() or MPI.Is_finalized() or MPI.COMM_WORLD.size == 1:
        return
    print(
        f'chainermn: rank {MPI.COMM_WORLD.rank} of {MPI.COMM_WORLD.size} raised '
        f'{kind.__name__}, which ends all processes',
        file=sys.stderr,
    )
    sys.stdout.flush()
    sys.stderr.flush()
    time.sleep(_SECONDS_TO_READ)
    MPI.COMM_WORLD.Abort(1)
