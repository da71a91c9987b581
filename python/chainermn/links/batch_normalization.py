"""`MultiNodeBatchNormalization`."""

from __future__ import annotations

import math
import typing as tp

import chainer
import chainer.functions as F
import numpy as np
from chainer.functions.normalization import _channels
from chainer.links import BatchNormalization

from chainermn.communicators.pure_nccl_communicator import PureNcclCommunicator
from chainermn.functions import allgather

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, InitializerSpec, NdArray, ShapeSpec, VariableLike

    from chainermn.communicators.communicator_base import CommunicatorBase


class MultiNodeBatchNormalization(BatchNormalization):
    """Batch normalization with the statistics of the batches of all processes.

    In training it computes what `chainer.links.BatchNormalization` computes of these batches
    joined, with the gradients of the sum of all losses; else it is the same link. Gradients are
    differentiable.

    Args:
        size: Number of channels, or their shape.
        comm (CommunicatorBase): Connects the processes.
        decay (float): How much of the running statistics stays in each step of training.
        eps (float): Added to variances.
        dtype: Of parameters and statistics; None is the configured one.
        use_gamma (bool): Whether there is a scale.
        use_beta (bool): Whether there is a shift.
        initial_gamma: Initializer of the scale; 1 by default.
        initial_beta: Initializer of the shift; 0 by default.
        communication_backend (str): ``'auto'``, ``'mpi'`` or, with ``pure_nccl``, ``'nccl'``: the
            statistics, a few numbers for each channel, go by MPI in any case.

    Attributes:
        comm (CommunicatorBase): As given.

    Raises:
        ValueError: For another ``communication_backend``, or ``'nccl'`` without ``pure_nccl``.
    """

    def __init__(
        self,
        size: ShapeSpec,
        comm: CommunicatorBase,
        decay: float = 0.9,
        eps: float = 2e-5,
        dtype: DTypeLike | None = None,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: InitializerSpec | None = None,
        initial_beta: InitializerSpec | None = None,
        communication_backend: str = 'auto',
    ) -> None:
        check_backend(communication_backend, comm)
        super().__init__(size, decay, eps, dtype, use_gamma, use_beta, initial_gamma, initial_beta)
        self.comm = comm

    def _normalize(
        self,
        x: VariableLike,
        gamma: VariableLike,
        beta: VariableLike,
        mean: NdArray | None,
        var: NdArray | None,
        decay: float,
    ) -> chainer.Variable:
        if self.comm.size == 1:
            return super()._normalize(x, gamma, beta, mean, var, decay)
        if gamma.dtype.itemsize == 2:
            # Sums leave the range of 16 bits, and so does the number of elements.
            gamma, beta = F.cast(gamma, np.float32), F.cast(beta, np.float32)
        axis = _channels.default_axes(x.ndim, gamma.ndim) if self.axis is None else self.axis
        h = F.cast(x, gamma.dtype)
        n = math.prod(x.shape[i] for i in axis)
        here = F.sum(h, axis=axis) / max(n, 1)
        shape = [1 if i in axis else x.shape[i] for i in range(x.ndim)]
        deviation = h - F.broadcast_to(F.reshape(here, shape), h.shape)
        with chainer.using_device(self.device):
            count = self.xp.full(here.shape, n, here.dtype)
        parts = allgather(
            self.comm, F.stack([here, F.sum(deviation * deviation, axis=axis), count])
        )
        # Means and sums of squares of parts become those of the whole without cancellation (Chan,
        # Golub and LeVeque, 1979).
        counts = [int(chainer.get_device('@numpy').send(p.array).flat[-1]) for p in parts]
        total = max(sum(counts), 1)
        pairs = list(zip(parts, counts, strict=True))
        everywhere = sum(p[0] * (k / total) for p, k in pairs)
        squares = sum(p[1] + (p[0] - everywhere) ** 2 * float(k) for p, k in pairs)
        variance = squares / total
        if mean is not None and var is not None:
            unbiased = squares.array / max(total - 1, 1)
            for running, new in ((mean, everywhere.array), (var, unbiased)):
                if hasattr(new, 'as_grad_stopped'):
                    new = new.as_grad_stopped()
                with chainer.using_device(self.device):
                    moved = running * decay + new.astype(running.dtype) * (1 - decay)
                chainer.backend.copyto(running, moved)
        return F.fixed_batch_normalization(
            x, gamma, beta, everywhere, variance, self.eps, self.axis
        )


def check_backend(communication_backend: str, comm: CommunicatorBase) -> None:
    """Raises ValueError for a way to communicate that there is not."""
    if communication_backend not in ('auto', 'mpi', 'nccl'):
        raise ValueError(
            f"communication_backend is {communication_backend!r}, expected 'auto', 'mpi' or 'nccl'"
        )
    if communication_backend == 'nccl' and not isinstance(comm, PureNcclCommunicator):
        raise ValueError(
            "communication_backend is 'nccl', which needs the communicator pure_nccl, not "
            f'{type(comm).__name__}'
        )
