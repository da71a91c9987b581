"""`create_mnbn_model`."""

from __future__ import annotations

import copy
import typing as tp

from chainer.links import BatchNormalization

from chainermn.links.batch_normalization import MultiNodeBatchNormalization, check_backend

if tp.TYPE_CHECKING:
    from chainer.link import Link

    from chainermn.communicators.communicator_base import CommunicatorBase


def create_mnbn_model(
    link: Link, comm: CommunicatorBase, communication_backend: str = 'auto'
) -> tp.Any:
    """Copies a model, with the batch normalization of all processes instead of its own.

    Subclasses of `chainer.links.BatchNormalization`, which compute something else, stay.

    Args:
        link (Link): The model. Parameters and statistics are copied, too.
        comm (CommunicatorBase): Connects the processes.
        communication_backend (str): As in `MultiNodeBatchNormalization`.

    Returns:
        Link: The copy.

    Raises:
        ValueError: As `MultiNodeBatchNormalization`.
    """
    check_backend(communication_backend, comm)
    copies: dict[int, tp.Any] = {}
    for part in link.links():
        if type(part) is BatchNormalization:
            new = MultiNodeBatchNormalization.__new__(MultiNodeBatchNormalization)
            new.__dict__.update(copy.deepcopy(part).__dict__)
            new.comm = comm
            copies[id(part)] = new
    # Wherever the model has one of them, the copy has its counterpart.
    return copy.deepcopy(link, copies)
