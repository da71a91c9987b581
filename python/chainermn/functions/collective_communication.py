"""Variables among all processes."""

from __future__ import annotations

import functools
import operator
import typing as tp

import chainer

from chainermn.functions._communication import Communication, arrive, empty_like, startable

if tp.TYPE_CHECKING:
    from chainer._typing import Arrays, VariableLike

    from chainermn.communicators.communicator_base import CommunicatorBase


class AllGather(Communication):
    """See `allgather`."""

    def exchange(self, inputs: Arrays) -> Arrays:
        """Those of all."""
        return self.comm.allgather(inputs[0])

    def exchange_back(self, grad_outputs: tuple[chainer.Variable, ...]) -> tp.Any:
        """The sum of what all have for the input of this process."""
        gxs = AllToAll(self.comm).apply(grad_outputs)
        return (functools.reduce(operator.add, gxs),)


class AllReduce(Communication):
    """See `allreduce`."""

    def exchange(self, inputs: Arrays) -> Arrays:
        """The sum."""
        return (self.comm.allreduce(inputs[0]),)

    def exchange_back(self, grad_outputs: tuple[chainer.Variable, ...]) -> tp.Any:
        """The sum of the gradients."""
        return AllReduce(self.comm).apply(grad_outputs)


class AllToAll(Communication):
    """See `alltoall`."""

    def exchange(self, inputs: Arrays) -> Arrays:
        """What all have for this process."""
        return self.comm.alltoall(inputs)

    def exchange_back(self, grad_outputs: tuple[chainer.Variable, ...]) -> tp.Any:
        """Gradients go back to where the variables came from."""
        return AllToAll(self.comm).apply(grad_outputs)


class _Rooted(Communication):
    def __init__(self, comm: tp.Any, root: int) -> None:
        super().__init__(comm)
        self.root = root


class Bcast(_Rooted):
    """See `bcast`; in the root."""

    def exchange(self, inputs: Arrays) -> Arrays:
        """The input itself."""
        return (self.comm.bcast(inputs[0], root=self.root),)

    def exchange_back(self, grad_outputs: tuple[chainer.Variable, ...]) -> tp.Any:
        """The sum of the gradients of all."""
        gxs = Gather(self.comm, self.root).apply(grad_outputs)
        return (functools.reduce(operator.add, gxs),)


class Gather(_Rooted):
    """See `gather`."""

    def exchange(self, inputs: Arrays) -> Arrays:
        """Those of all in the root; elsewhere the delegate."""
        gathered = self.comm.gather(inputs[0], self.root)
        return (empty_like(inputs[0]),) if gathered is None else gathered

    def exchange_back(self, grad_outputs: tuple[chainer.Variable, ...]) -> tp.Any:
        """The gradients, from the root."""
        if self.comm.rank == self.root:
            return Scatter(self.comm, self.root).apply(grad_outputs)
        return _arrive_from_root(self.comm, self.root, grad_outputs[0])


class Scatter(_Rooted):
    """See `scatter`; in the root."""

    def exchange(self, inputs: Arrays) -> Arrays:
        """The one for the root."""
        return (self.comm.scatter(inputs, self.root),)

    def exchange_back(self, grad_outputs: tuple[chainer.Variable, ...]) -> tp.Any:
        """The gradients of all."""
        return Gather(self.comm, self.root).apply(grad_outputs)


def _arrive_from_root(
    comm: tp.Any, root: int, delegate: chainer.Variable | None = None
) -> tuple[chainer.Variable, ...]:
    return arrive(comm, comm.scatter(None, root), Gather(comm, root).apply, delegate)


def allgather(comm: CommunicatorBase, x: VariableLike) -> tuple[chainer.Variable, ...]:
    """Brings variables of all processes to all.

    Args:
        comm (CommunicatorBase): Connects the processes.
        x (Variable or array): Any shape, any dtype of numbers; shapes of processes may differ.

    Returns:
        tuple of Variable: By rank; of the same shapes and dtype. Differentiable, any order.

    Raises:
        ValueError: If dtypes differ.
    """
    return AllGather(comm).apply((x,))


def allreduce(comm: CommunicatorBase, x: VariableLike) -> chainer.Variable:
    """The sum of variables of all processes, which Chainer v7 does not have.

    Args:
        comm (CommunicatorBase): Connects the processes.
        x (Variable or array): Any float dtype; of one shape and dtype in all processes.

    Returns:
        Variable: The sum, of the same shape and dtype. Differentiable, any order.

    Raises:
        ValueError: If shapes or dtypes differ.
    """
    return AllReduce(comm).apply((x,))[0]


def alltoall(comm: CommunicatorBase, xs: tp.Sequence[VariableLike]) -> tuple[chainer.Variable, ...]:
    """Gives each process the variable that is for it, from each process.

    Args:
        comm (CommunicatorBase): Connects the processes.
        xs (sequence of Variable or array): The one for each rank: any shapes, any dtype of numbers.

    Returns:
        tuple of Variable: By the rank that gave it; of the same shapes and dtypes. Differentiable,
        any order.

    Raises:
        ValueError: If there are not as many as processes.
    """
    return AllToAll(comm).apply(tuple(xs))


def bcast(comm: CommunicatorBase, x: VariableLike | None, root: int = 0) -> chainer.Variable:
    """Copies a variable of one process to all.

    Args:
        comm (CommunicatorBase): Connects the processes.
        x (Variable or array): Any shape, any dtype of numbers; only that of the root counts.
        root (int): The rank that has it.

    Returns:
        Variable: Of the same shape and dtype. Differentiable, any order: the gradient of ``x`` is
        the sum of those of all processes.

    Raises:
        ValueError: If there is no such rank.
    """
    if comm.rank == root:
        return Bcast(comm, root).apply((x,))[0]
    return arrive(comm, comm.bcast(None, root=root), Gather(comm, root).apply)[0]


def gather(
    comm: CommunicatorBase, x: VariableLike, root: int = 0
) -> chainer.Variable | tuple[chainer.Variable, ...]:
    """Brings variables of all processes to one.

    Args:
        comm (CommunicatorBase): Connects the processes.
        x (Variable or array): Any shape, any dtype of numbers; shapes of processes may differ.
        root (int): The rank that gets them.

    Returns:
        tuple of Variable: By rank, of the same shapes and dtype. In other processes a Variable, the
        delegate, of float32 and shape (0,), whose ``backward`` waits for the gradient.
        Differentiable, any order.

    Raises:
        ValueError: If dtypes differ, or there is no such rank.
    """
    ys = Gather(comm, root).apply((x,))
    return ys if comm.rank == root else startable(ys[0])


def scatter(
    comm: CommunicatorBase, xs: tp.Sequence[VariableLike] | None, root: int = 0
) -> chainer.Variable:
    """Gives each process one of the variables of the root.

    Args:
        comm (CommunicatorBase): Connects the processes.
        xs (sequence of Variable or array): The one for each rank: any shapes, any dtype of numbers;
            only those of the root count.
        root (int): The rank that has them.

    Returns:
        Variable: The one for this process, of the same shape and dtype. Differentiable, any order.

    Raises:
        ValueError: If there are not as many as processes, or there is no such rank.
    """
    if comm.rank != root:
        return _arrive_from_root(comm, root)[0]
    return Scatter(comm, root).apply(tuple(xs or ()))[0]
