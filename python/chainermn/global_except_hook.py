"""An exception in one process ends all: the others would wait for it for ever.

Chainer v7 leaves that to an environment variable, and without it one process that can't read its
data keeps all others waiting, often for as long as the job may last. Here a program that
``mpiexec`` starts in several processes has the hook from the import of chainermn on: processes wait
for each other from ``create_communicator`` on, and most of what fails in one process alone, a file
or a package that is missing on its machine, comes before. A notebook, or a program that is one
process, keeps its ``sys.excepthook``.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import types
import typing as tp

_SECONDS_TO_READ: tp.Final = 0.3  # mpiexec drops what it has not read when processes are aborted
_SECONDS_TO_START: tp.Final = 10  # of MPI, which waits for those who compute

# Where launchers say how many processes they start: MPICH and its relatives, Open MPI, Slurm.
_NUMBERS: tp.Final = ('PMI_SIZE', 'OMPI_COMM_WORLD_SIZE', 'SLURM_STEP_NUM_TASKS')
# What processes that a process of MPI starts find in their environment: they are none of MPI.
_MARK: tp.Final = '_CHAINERMN_PROCESS'

_hook: tp.Any = None
_process = 0  # where it was added; processes forked from that are none of MPI
_depth = 0  # of hooks that call each other


def add_hook() -> None:
    """Makes an exception that nobody handles end all processes that ``mpiexec`` started.

    The process that raises prints the traceback and its rank before. The import of chainermn calls
    this where ``mpiexec`` started several processes, and with the environment variable
    ``CHAINERMN_FORCE_ABORT_ON_EXCEPTION``; `create_communicator` does where there are several, if
    the program has put another hook in its place. A second call does nothing.
    ``sys.excepthook = sys.__excepthook__`` takes it away.
    """
    global _hook, _process
    _process = os.getpid()
    if _hook is None or sys.excepthook is not _hook:
        _hook = sys.excepthook = _make_hook(sys.excepthook)


def is_asked_for() -> bool:
    """Whether this process is to have the hook before it has a communicator.

    Returns:
        bool: True where a launcher started several processes, or the environment asks for it; not
        in programs that these start.
    """
    numbers = [os.environ.get(name, '') for name in _NUMBERS]
    is_one_of_several = any(number.isdecimal() and int(number) > 1 for number in numbers)
    if not is_one_of_several and not os.environ.get('CHAINERMN_FORCE_ABORT_ON_EXCEPTION'):
        return False
    return os.environ.setdefault(_MARK, str(os.getpid())) == str(os.getpid())


def _make_hook(previous: tp.Any) -> tp.Any:
    def end_all(
        kind: type[BaseException], error: BaseException, traceback: types.TracebackType | None
    ) -> None:
        global _depth
        _depth += 1
        try:
            previous(kind, error, traceback)
        finally:
            _depth -= 1
            # A hook of the program may stand between two of these, and has more to do.
            if _depth == 0 and os.getpid() == _process:
                _end_all(kind)

    return end_all


def _end_all(kind: type[BaseException]) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    # Others may wait for this process to start MPI, and not every mpiexec ends them if one fails
    # before. If they do not, MPI does not start; a signal is what each mpiexec understands.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_SECONDS_TO_START)
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError):
        return
    finally:
        signal.alarm(0)
    if not MPI.Is_initialized() or MPI.Is_finalized() or MPI.COMM_WORLD.size == 1:
        return
    print(
        f'chainermn: rank {MPI.COMM_WORLD.rank} of {MPI.COMM_WORLD.size} raised '
        f'{kind.__name__}, which ends all processes',
        file=sys.stderr,
        flush=True,
    )
    time.sleep(_SECONDS_TO_READ)
    MPI.COMM_WORLD.Abort(1)
