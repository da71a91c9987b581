"""`NaiveCommunicator`."""

from __future__ import annotations

import typing as tp

from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class NaiveCommunicator(MpiCommunicatorBase):
    """Sends each parameter by itself. It is slow, and needs no memory for all at once.

    Args:
        mpi_comm: A communicator of mpi4py; None for all processes.
    """

    def _groups(self, items: list[tp.Any]) -> list[list[tp.Any]]:
        return [[item] for item in items]
