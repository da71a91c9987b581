"""`AllreducePersistent`."""

from __future__ import annotations

import typing as tp

import chainer
import numpy as np
from chainer.training import extension

from chainermn.communicators import _arrays

if tp.TYPE_CHECKING:
    from chainer.link import Link
    from chainer.training.trainer import Trainer

    from chainermn.communicators.communicator_base import CommunicatorBase


class AllreducePersistent(extension.Extension):
    """Replaces persistent arrays of a model, such as running statistics, by means over processes.

    It runs before evaluators of the same trigger, so that these see the means.

    Args:
        model (Link): The model.
        comm (CommunicatorBase): Connects the processes.
    """

    trigger = (1, 'epoch')
    priority = extension.PRIORITY_WRITER + 1

    def __init__(self, model: Link, comm: CommunicatorBase) -> None:
        self.model = model
        self.comm = comm

    def __call__(self, trainer: Trainer | None = None) -> None:
        """Averages all persistent arrays of floats.

        Args:
            trainer (Trainer): The caller.

        Raises:
            ValueError: If models of the processes differ.
        """
        for _, link in sorted(self.model.namedlinks()):
            for name in sorted(link._persistent):
                x = getattr(link, name, None)
                if not isinstance(x, chainer.get_array_types()):
                    continue
                if np.dtype(x.dtype).kind not in 'fcV':
                    continue
                host = _arrays.to_host(x)
                total = self.comm.allreduce(host.astype(np.promote_types(host.dtype, np.float32)))
                chainer.backend.copyto(x, (total / self.comm.size).astype(host.dtype))
