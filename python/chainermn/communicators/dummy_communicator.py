"""`DummyCommunicator`."""

from __future__ import annotations

import typing as tp

from chainermn.communicators import _model
from chainermn.communicators.flat_communicator import FlatCommunicator

if tp.TYPE_CHECKING:
    from chainer.link import Link


class DummyCommunicator(FlatCommunicator):
    """Leaves gradients as they are: what remains of the time of a training without exchange.

    Everything else is that of `FlatCommunicator`.

    Args:
        mpi_comm: A communicator of mpi4py; None for all processes.
    """

    def multi_node_mean_grad(self, model: Link, zero_fill: bool = False) -> None:
        """Fills in missing gradients, and does nothing more.

        Args:
            model (Link): The model.
            zero_fill (bool): Whether a parameter without a gradient has one of zeros.
        """
        _model.gradients_of(model, zero_fill)
