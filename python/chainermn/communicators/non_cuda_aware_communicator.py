"""`NonCudaAwareCommunicator`."""

from chainermn.communicators.flat_communicator import FlatCommunicator


class NonCudaAwareCommunicator(FlatCommunicator):
    """Joins parameters, or their gradients, on their device, and sends them from the host.

    Args:
        mpi_comm: A communicator of mpi4py; None for all processes.
    """
