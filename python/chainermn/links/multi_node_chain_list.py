"""`MultiNodeChainList`."""

from __future__ import annotations

import typing as tp

import chainer

from chainermn import functions

if tp.TYPE_CHECKING:
    from chainer.link import Link

    from chainermn.communicators.communicator_base import CommunicatorBase

Ranks: tp.TypeAlias = int | tp.Sequence[int] | None


class MultiNodeChainList(chainer.ChainList):
    """The parts of a model that are in this process; those of others send it their results.

    ``forward`` calls the parts in the order in which they were added. In each process it returns
    what ``backward`` is to start from.

    Args:
        comm (CommunicatorBase): Connects the processes.
    """

    def __init__(self, comm: CommunicatorBase) -> None:
        super().__init__()
        self._comm = comm
        self._ranks: list[tuple[Ranks, Ranks]] = []

    def add_link(self, link: Link, rank_in: Ranks = None, rank_out: Ranks = None) -> None:
        """Adds a part of the model.

        Args:
            link (Link): Which.
            rank_in (int or sequence of int): The processes whose results are its arguments; None
                for the arguments of the model. The process itself may be one of them.
            rank_out (int or sequence of int): The processes that get its result; None if it is that
                of the model.

        Raises:
            ValueError: If there is no such rank; or for a second part whose result is that of the
                model.
        """
        for name, ranks in (('rank_in', rank_in), ('rank_out', rank_out)):
            for rank in _to_list(ranks):
                if not 0 <= rank < self._comm.size:
                    raise ValueError(
                        f'add_link: {name} has rank {rank}, and there are {self._comm.size} '
                        'processes'
                    )
        if rank_out is None and any(out is None for _, out in self._ranks):
            raise ValueError(
                'add_link: rank_out is None, and another part gives the result of the model already'
            )
        super().add_link(link)
        self._ranks.append((rank_in, rank_out))

    def forward(self, *inputs: tp.Any) -> tp.Any:
        """Calls the parts, and exchanges their results.

        Args:
            *inputs: For parts whose ``rank_in`` is None.

        Returns:
            Variable: The result of the part whose ``rank_out`` is None; in a process without one, a
            variable without elements. ``backward`` of it goes through all parts.

        Raises:
            ValueError: If there is no part, or one takes a result of this process that is not
                there yet.
        """
        if not self._ranks:
            raise ValueError('MultiNodeChainList.forward: there is no part; add_link adds one')
        here = self._comm.rank
        own: list[tp.Any] = []  # results that this process has for itself
        result: tp.Any = None
        delegate: chainer.Variable | None = None
        for link, (rank_in, rank_out) in zip(self, self._ranks, strict=True):
            arguments: tuple[tp.Any, ...] = inputs if rank_in is None else ()
            for rank in _to_list(rank_in):
                if rank != here:
                    received = functions.recv(self._comm, rank, delegate, force_tuple=True)
                elif own:
                    received = own.pop(0)
                else:
                    raise ValueError(
                        f'MultiNodeChainList.forward: a part has rank_in {rank}, that of this '
                        'process, and no part before it has it as rank_out'
                    )
                arguments += received
            y = link(*arguments)
            ys = tuple(y) if isinstance(y, tuple | list) else (y,)
            for rank in _to_list(rank_out):
                if rank == here:
                    own.append(ys)
                    continue
                sent = functions.send(ys, self._comm, rank)
                # Each is connected with the one before, so that backward goes through all.
                delegate = functions.pseudo_connect(delegate, sent)
            if rank_out is None:
                result = y
        if result is None:
            return delegate
        if delegate is None:
            return result
        if isinstance(result, tuple | list):
            return functions.pseudo_connect(delegate, *result)
        return functions.pseudo_connect(delegate, result)


def _to_list(ranks: Ranks) -> list[int]:
    return [] if ranks is None else [ranks] if isinstance(ranks, int) else list(ranks)
