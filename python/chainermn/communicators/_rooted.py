"""What one process makes for all: where it fails, all raise."""

from __future__ import annotations

import typing as tp

if tp.TYPE_CHECKING:
    from chainermn.communicators.communicator_base import CommunicatorBase

_Made = tp.TypeVar('_Made')


def make_in_root(
    operation: str, comm: CommunicatorBase, root: int, make: tp.Callable[[], _Made]
) -> _Made:
    """Copies what the root makes to all.

    Raises:
        RuntimeError: If it fails there, in the other processes.
        Exception: What was raised, in the root.
    """
    failure: Exception | None = None
    message: tp.Any = None
    if comm.rank == root:
        try:
            message = None, make()
        except Exception as error:
            failure = error
            message = f'{type(error).__name__}: {error}', None
    text, made = comm.bcast_obj(message, root=root)
    if failure is not None:
        raise failure
    if text is not None:
        raise RuntimeError(f'{operation}: rank {root} failed: {text}')
    return made
