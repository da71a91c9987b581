"""Communicators: processes that exchange arrays, objects, parameters and gradients."""

from __future__ import annotations

import typing as _typing
import warnings as _warnings

from chainermn.communicators import _mpi
from chainermn.communicators.communicator_base import CommunicatorBase
from chainermn.communicators.dummy_communicator import DummyCommunicator as _Dummy
from chainermn.communicators.flat_communicator import FlatCommunicator as _Flat
from chainermn.communicators.naive_communicator import NaiveCommunicator as _Naive
from chainermn.communicators.non_cuda_aware_communicator import (
    NonCudaAwareCommunicator as _NonCudaAware,
)
from chainermn.communicators.pure_nccl_communicator import PureNcclCommunicator as _PureNccl

__all__ = ['CommunicatorBase', 'create_communicator']

_CLASSES: dict[str, _typing.Any] = {
    'naive': _Naive,
    'flat': _Flat,
    'non_cuda_aware': _NonCudaAware,
    'pure_nccl': _PureNccl,
    'dummy': _Dummy,
}


def create_communicator(
    communicator_name: str = 'pure_nccl',
    mpi_comm: _typing.Any = None,
    *,
    allreduce_grad_dtype: _typing.Any = None,
    batched_copy: bool | None = None,
) -> CommunicatorBase:
    """Makes the communicator of the processes that ``mpiexec`` started.

    All processes must call it. From then on, an exception that nobody handles in one process ends
    all of them, if there are several: the others would wait for it for ever.

    Args:
        communicator_name (str): How parameters and gradients are sent: ``'naive'`` (each by
            itself), ``'flat'`` and ``'non_cuda_aware'`` (joined, through memory of the host),
            ``'pure_nccl'`` (by NCCL, from GPU to GPU), ``'dummy'`` (gradients are not sent).
        mpi_comm: A communicator of mpi4py; None for all processes.
        allreduce_grad_dtype: The dtype in which ``pure_nccl`` adds gradients; None for their own.
        batched_copy (bool): Without effect, which a warning says.

    Returns:
        CommunicatorBase: The communicator.

    Raises:
        ImportError: If there is no mpi4py or no MPI.
        RuntimeError: If ``pure_nccl`` can't be used.
        ValueError: For an unknown name, and for ``allreduce_grad_dtype`` with another one than
            ``pure_nccl``, or an environment variable that is no number.
    """
    # First, since the others wait for a process whose call is wrong.
    _add_hook_where_others_wait()
    if batched_copy is not None:
        _warnings.warn(
            'create_communicator: batched_copy has no effect: gradients are always joined by one '
            'copy',
            DeprecationWarning,
            stacklevel=2,
        )
    if communicator_name not in _CLASSES:
        raise ValueError(
            f'create_communicator: communicator_name is {communicator_name!r}, expected one of '
            f'{", ".join(_CLASSES)}'
        )
    if allreduce_grad_dtype is not None and communicator_name != 'pure_nccl':
        raise ValueError(
            f'create_communicator: allreduce_grad_dtype is {allreduce_grad_dtype}, which only '
            f'pure_nccl takes, not {communicator_name}'
        )
    _mpi.seconds_before_report()  # is checked
    cls = _CLASSES[communicator_name]
    return cls(mpi_comm) if cls is not _PureNccl else cls(mpi_comm, allreduce_grad_dtype)


def _add_hook_where_others_wait() -> None:
    from chainermn import global_except_hook

    try:
        mpi = _mpi.load()
    except ImportError:  # which the communicator raises, if the arguments are right
        return
    if mpi.COMM_WORLD.size > 1:
        global_except_hook.add_hook()
