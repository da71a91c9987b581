"""Checks, ahead of each collective operation, that all processes call it with what fits together.

Without them MPI would wait for ever, end the program, or mix up numbers. A check is one reduction
of 16 bytes.
"""

from __future__ import annotations

import hashlib
import time
import typing as tp

import numpy as np
from chainerx._core import engine

from chainermn.communicators import _mpi
from chainermn.communicators._exchange import Exchange

_Value = tp.TypeVar('_Value')
Prepared = tuple[object, _Value]
_LEAVING: tp.Final = 'finalize'
_LEFT_TAG: tp.Final = 1  # of notices, which are left unread until all have left
_SECONDS_BEHIND_NOTICES: tp.Final = 1


class Agreement:
    """The checks of one communicator.

    Args:
        exchange (Exchange): What connects the processes.
        mpi: The module ``mpi4py.MPI``.
    """

    def __init__(self, exchange: Exchange, mpi: tp.Any) -> None:
        self._exchange = exchange
        self._comm = exchange.comm
        self._mpi = mpi
        # What was described last by an operation; models are described in each iteration.
        self._last: dict[str, tuple[object, int]] = {}
        self._has_left = False
        self._notices: list[tp.Any] = []
        self._extremes: tp.Any = None
        self._request: tp.Any = None

    def reach(self, operation: str, prepare: tp.Callable[[], Prepared[_Value]]) -> _Value:
        """Prepares an operation in each process, and compares what it will be called with.

        Args:
            operation (str): Its name.
            prepare (callable): Returns what must be the same in all processes, and a result.

        Returns:
            The result.

        Raises:
            RuntimeError: If another process failed to prepare it, or calls another operation.
            ValueError: If it is described in another way by another process.
            Exception: Whatever ``prepare`` raises, after all have heard of it.
        """
        self.check_present(operation)
        self._exchange.operation = operation
        if self._exchange.size > 1:
            refuse_capture(operation)
        failure: Exception | None = None
        description: object = None
        value: tp.Any = None
        try:
            description, value = prepare()
        except Exception as error:
            failure = error
        if self._exchange.size == 1:
            if failure is not None:
                raise failure
            return value
        text = None if failure is None else f'{type(failure).__name__}: {failure}'
        self._start(self._digest(operation, description) if text is None else -1)
        self._exchange.wait([self._request])
        if failure is None and self._is_reached():
            return value
        everyone = self._exchange.allgather((operation, text, description))
        if failure is not None:
            raise failure
        raise _difference(everyone)

    def start_to_leave(self) -> None:
        """Says to those who go on that this process takes part in nothing any more."""
        self._has_left = True
        for rank in self._exchange.others():
            self._notices.append(self._comm.Isend(np.empty(0, np.uint8), rank, _LEFT_TAG))
        self._start_leaving()

    def _start_leaving(self) -> None:
        if self._exchange.size > 1:
            self._start(self._digest(_LEAVING, None))

    def wait_for(
        self, operation: str, rank: int, tag: int, test: tp.Callable[[], _Value | None]
    ) -> _Value:
        """Waits for a message from or to another process.

        Args:
            operation (str): Its name.
            rank (int): Which process, or ``MPI.ANY_SOURCE``.
            tag (int): That of the message, or ``MPI.ANY_TAG``.
            test (callable): Returns something true when there is no more to wait for.

        Returns:
            What the test returned.

        Raises:
            RuntimeError: If that process has left.
        """
        ranks = list(self._exchange.others()) if rank == self._mpi.ANY_SOURCE else [rank]
        deadline = None

        def test_both() -> _Value | None:
            nonlocal deadline
            if found := test():
                return found
            if all(self._comm.Iprobe(other, _LEFT_TAG) for other in ranks):
                # Messages from before may come after the notice, since that takes its own way.
                now = time.monotonic()
                deadline = deadline or now + _SECONDS_BEHIND_NOTICES
                if now > deadline:
                    names = ' and '.join(map(str, ranks))
                    raise RuntimeError(
                        f'{operation}: waits for rank {names}, which {_does(_LEAVING)}'
                    )
            return None

        peer = 'any rank' if rank == self._mpi.ANY_SOURCE else f'rank {rank}'
        label = 'any tag' if tag == self._mpi.ANY_TAG else f'tag {tag}'
        found = _mpi.wait(test_both, self._comm, f'{operation} for {peer}, {label}')
        assert found is not None
        return found

    def has_ended(self) -> bool:
        """Whether all have left; until then each call answers those who have not.

        The communicator is freed at the end.
        """
        if self._exchange.size > 1:
            if not self._request.Test():
                return False
            if not self._is_reached():
                self._exchange.allgather((_LEAVING, None, None))  # they raise, and may call again
                self._start_leaving()
                return False
            for rank in self._exchange.others():
                self._comm.Recv(np.empty(0, np.uint8), rank, _LEFT_TAG)
            self._mpi.Request.Waitall(self._notices)
        self._comm.Free()
        return True

    def _start(self, digest: int) -> None:
        """Starts a comparison; it does not block, so that who leaves can wait for several."""
        self._extremes = np.array([digest, -digest], np.int64)
        self._request = self._comm.Iallreduce(self._mpi.IN_PLACE, self._extremes, self._mpi.MAX)

    def _is_reached(self) -> bool:
        return bool(self._extremes[0] == -self._extremes[1] and self._extremes[0] >= 0)

    def check_present(self, operation: str) -> None:
        """Raises RuntimeError after `start_to_leave`."""
        if self._has_left:
            raise RuntimeError(f'{operation}: the communicator is finalized')

    def _digest(self, operation: str, description: object) -> int:
        known = self._last.get(operation)
        if known is not None and known[0] == description:
            return known[1]
        text = repr((operation, description)).encode()
        digest = int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), 'big')
        self._last[operation] = description, digest
        return digest


def refuse_capture(operation: str) -> None:
    """Makes a captured step an error: its replays would send nothing."""
    if engine.is_capturing():
        engine.refuse_capture(f'{operation} of chainermn sends messages to other processes')


def _difference(everyone: list[tuple[str, str | None, tp.Any]]) -> Exception:
    """The error that says how processes differ; the same in each one that has not failed."""
    operation, _, first = everyone[0]
    for rank, (other, _, _) in enumerate(everyone):
        if other != operation:
            return RuntimeError(f'rank 0 {_does(operation)}, and rank {rank} {_does(other)}')
    for rank, (_, failure, _) in enumerate(everyone):
        if failure is not None:
            return RuntimeError(f'{operation}: rank {rank} failed: {failure}')
    for rank, (_, _, description) in enumerate(everyone):
        if description != first:
            mine, theirs = _first_difference(first, description)
            return ValueError(f'{operation}: rank 0 has {mine}, and rank {rank} has {theirs}')
    return RuntimeError(f'{operation}: processes differ')  # by chance, digests of other kinds


def _does(operation: str) -> str:
    if operation == _LEAVING:
        return 'has finalized the communicator, or ends'
    return f'calls {operation}'


def _first_difference(a: tp.Any, b: tp.Any) -> tuple[str, str]:
    if isinstance(a, Items) and isinstance(b, Items):
        for one, other in zip(a.items, b.items, strict=False):
            if one != other:
                return str(one), str(other)
        return f'{len(a.items)} {a.noun}', f'{len(b.items)} {b.noun}'
    return str(a), str(b)


class Items(tp.NamedTuple):
    """A description in parts, such as the parameters of a model; errors name the first that differ.

    Attributes:
        noun: What they are, in the plural.
        items: The descriptions.
    """

    noun: str
    items: tuple[tp.Any, ...]
