"""How processes end that a program has started: with it, and in any case."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import typing as tp

PATIENCE = 5.0  # seconds that processes have to end, together

_PR_SET_PDEATHSIG: tp.Final = 1  # of <sys/prctl.h>


def started(context: tp.Any, what: str, **of_process: tp.Any) -> tp.Any:
    """Starts a process, to which all but a fork pickles what it works on.

    Args:
        context: That of `multiprocessing` in use.
        what (str): Whose process it is, and what that pickles, for an error.
        **of_process: Arguments of `multiprocessing.Process`.

    Returns:
        multiprocessing.Process: The process.

    Raises:
        Exception: The exception of pickle, with a note that says why and how not to.
    """
    process = context.Process(**of_process)
    method = context.get_start_method()
    try:
        process.start()
    except ChildProcessError:
        if method != 'forkserver':
            raise
        # This process is a fork of the one whose child the server is, and can't use it.
        return started(multiprocessing.get_context('spawn'), what, **of_process)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        if method != 'fork':
            error.add_note(
                f'{what}, since processes start by {method!r} here: Python 3.14 no longer forks by '
                "default. multiprocessing.set_start_method('fork') at the start of the program "
                'makes them forks, which need no pickle.'
            )
        raise
    return process


def end(processes: tp.Iterable[tp.Any]) -> None:
    """Terminates processes; kills those that were stopped, or hang where Python sees no signals.

    Args:
        processes (list of multiprocessing.Process): They have been started.
    """
    processes = list(processes)
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + PATIENCE
    for process in processes:
        process.join(max(deadline - time.monotonic(), 0.0))
        if process.is_alive():
            process.kill()
            process.join()


def is_main_thread() -> bool:
    """Return whether processes that this thread starts may tell `end_with_parent` so."""
    return threading.current_thread() is threading.main_thread()


def end_with_parent(started_by_main_thread: bool) -> None:
    """Sees to it that this process ends when its parent does, even if that is killed.

    A pipe to the parent tells only who reads from it, and stays open as long as any process has
    inherited the other end.

    Args:
        started_by_main_thread (bool): Of the parent. Linux has a signal for this, but sends it when
            the thread ends that has started the process.
    """
    if started_by_main_thread and _ask_for_signal():
        return
    watch = threading.Thread(target=_watch, args=(os.getppid(),), daemon=True)
    watch.start()


def _ask_for_signal() -> bool:
    if sys.platform != 'linux':
        return False
    import ctypes

    try:
        return ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) == 0
    except (AttributeError, OSError):
        return False


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
