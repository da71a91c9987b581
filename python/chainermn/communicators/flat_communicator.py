"""`FlatCommunicator`."""

from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class FlatCommunicator(MpiCommunicatorBase):
    """Joins parameters, or their gradients, to one array for each dtype, and sends that.

    Args:
        mpi_comm: A communicator of mpi4py; None for all processes.
    """
