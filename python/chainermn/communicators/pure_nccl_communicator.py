"""`PureNcclCommunicator`."""

from __future__ import annotations

import typing as tp

from chainermn.communicators import _mpi
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class PureNcclCommunicator(MpiCommunicatorBase):
    """Would send parameters and gradients by NCCL, from GPU to GPU. It is not there yet.

    Args:
        mpi_comm: A communicator of mpi4py; None for all processes.
        allreduce_grad_dtype: The dtype in which gradients are added.

    Raises:
        ImportError: If there is no mpi4py or no MPI.
        RuntimeError: Always.
    """

    def __init__(self, mpi_comm: tp.Any = None, allreduce_grad_dtype: tp.Any = None) -> None:
        _mpi.load()
        raise RuntimeError(
            'pure_nccl: NCCL between processes is not supported; the communicator non_cuda_aware '
            'takes arrays of GPUs through memory of the host, and naive and flat run on the CPU'
        )
