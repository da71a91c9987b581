"""Variables from one process to another."""

from __future__ import annotations

import typing as tp

import chainer

from chainermn.functions._communication import Communication, arrive, empty_like, startable

if tp.TYPE_CHECKING:
    from chainer._typing import Arrays, VariableLike

    from chainermn.communicators.communicator_base import CommunicatorBase


class Send(Communication):
    """See `send`."""

    def __init__(self, comm: tp.Any, peer_rank: int, peer_tag: int) -> None:
        super().__init__(comm)
        self.peer_rank = peer_rank
        self.peer_tag = peer_tag

    def exchange(self, inputs: Arrays) -> Arrays:
        """Sends the inputs; returns the delegate."""
        self.comm.send(inputs if len(inputs) > 1 else inputs[0], self.peer_rank, self.peer_tag)
        return (empty_like(inputs[0]),)

    def exchange_back(self, grad_outputs: tuple[chainer.Variable, ...]) -> tp.Any:
        """Receives the gradients."""
        return recv(self.comm, self.peer_rank, grad_outputs[0], self.peer_tag, force_tuple=True)


def send(
    x: VariableLike | tp.Sequence[VariableLike],
    communicator: CommunicatorBase,
    rank: int,
    tag: int = 0,
) -> chainer.Variable:
    """Sends variables to another process, which calls `recv`.

    ``backward`` of the result waits for the gradients that the other process sends in its own.

    Args:
        x (Variable or array, or a sequence of them): Any shape, any dtype of numbers.
        communicator (CommunicatorBase): Connects the processes.
        rank (int): To which process.
        tag (int): A number that the receiver can tell messages by.

    Returns:
        Variable: The delegate: float32 of shape (0,), which `recv` and `pseudo_connect` take, and
        from which ``backward`` can start. Differentiable, any order.

    Raises:
        ValueError: If there is no such rank, it is that of this process, or ``x`` is empty.
    """
    if rank == communicator.rank:
        raise ValueError(
            f'send: rank is {rank}, that of this process, whose backward would wait for itself'
        )
    xs = x if isinstance(x, tuple | list) else (x,)
    if not xs:
        raise ValueError('send: x is an empty sequence, and there is nothing to send')
    (delegate,) = Send(communicator, rank, tag).apply(tuple(xs))
    return startable(delegate)


def recv(
    communicator: CommunicatorBase,
    rank: int,
    delegate_variable: chainer.Variable | None = None,
    tag: int = 0,
    force_tuple: bool = False,
) -> tp.Any:
    """Waits for the variables that another process sends by `send`.

    Its ``backward`` sends gradients to that process.

    Args:
        communicator (CommunicatorBase): Connects the processes.
        rank (int): From which process.
        delegate_variable (Variable): A delegate of float32 and shape (0,), in whose graph the
            result is to be: its backward follows that of the result.
        tag (int): The number that the sender gave.
        force_tuple (bool): Whether one variable comes in a tuple, too.

    Returns:
        Variable or tuple of Variable: What was sent, of the same shape and dtype; on the device of
        the delegate, if there is one. Differentiable, any order.

    Raises:
        ValueError: If there is no such rank, or it is that of this process.
    """
    if rank == communicator.rank:
        raise ValueError(
            f'recv: rank is {rank}, that of this process, whose backward would wait for itself'
        )

    def back(gys: tuple[chainer.Variable, ...]) -> tuple[chainer.Variable, ...]:
        return Send(communicator, rank, tag).apply(gys)

    ys = arrive(communicator, communicator.recv(rank, tag), back, delegate_variable)
    return ys[0] if len(ys) == 1 and not force_tuple else ys
