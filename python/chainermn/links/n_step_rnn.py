"""`create_multi_node_n_step_rnn`."""

from __future__ import annotations

import typing as tp

import chainer
from chainer.links.rnn.n_step_rnn import NStepRNNBase

from chainermn import functions

if tp.TYPE_CHECKING:
    from chainermn.communicators.communicator_base import CommunicatorBase


def create_multi_node_n_step_rnn(
    actual_link: NStepRNNBase,
    communicator: CommunicatorBase,
    rank_in: int | None = None,
    rank_out: int | None = None,
) -> _MultiNodeNStepRNN:
    """Makes a recurrent layer begin with the states of another process, or send its own to one.

    It is called as ``link(xs)``, or, without ``rank_in``, as the layer itself, and returns what the
    layer returns and a delegate behind it, which is None without ``rank_out``; see
    `chainermn.functions.send`.

    Args:
        actual_link (NStepRNNBase): The layer, such as `chainer.links.NStepLSTM`.
        communicator (CommunicatorBase): Connects the processes.
        rank_in (int): The process whose last states are the first ones here; None for zeros.
        rank_out (int): The process that gets the last states; None for none.

    Returns:
        Link: The layer; the given one is its child ``actual_rnn``.

    Raises:
        ValueError: If it is no such layer.
    """
    if not isinstance(actual_link, NStepRNNBase):
        raise ValueError(
            'create_multi_node_n_step_rnn: actual_link must be an NStepRNN, NStepLSTM, NStepGRU or '
            f'the like, not {type(actual_link).__name__}'
        )
    return _MultiNodeNStepRNN(actual_link, communicator, rank_in, rank_out)


class _MultiNodeNStepRNN(chainer.Chain):
    """A recurrent layer whose states come from, or go to, other processes."""

    actual_rnn: NStepRNNBase

    def __init__(
        self,
        link: NStepRNNBase,
        communicator: CommunicatorBase,
        rank_in: int | None,
        rank_out: int | None,
    ) -> None:
        super().__init__(actual_rnn=link)
        self.communicator = communicator
        self.rank_in = rank_in
        self.rank_out = rank_out

    def forward(self, *inputs: tp.Any) -> tuple[tp.Any, ...]:
        """Runs through sequences.

        Args:
            *inputs: The sequences; in front of them states, if none come from another process.

        Returns:
            tuple: The states, the outputs, and the delegate.

        Raises:
            TypeError: If there are states although others come from another process, or some are
                missing.
        """
        n_states = self.actual_rnn.n_cells
        *states, xs = inputs
        if self.rank_in is not None:
            if any(state is not None for state in states):
                raise TypeError(
                    f'forward: got states, but they come from rank {self.rank_in}; call it with '
                    'the sequences alone'
                )
            states = list(functions.recv(self.communicator, self.rank_in, force_tuple=True))
        elif not states:
            states = [None] * n_states
        if len(states) != n_states:
            raise TypeError(f'forward: expected {n_states} states, got {len(states)}')
        outputs = self.actual_rnn(*states, xs)
        delegate = None
        if self.rank_out is not None:
            delegate = functions.send(outputs[:-1], self.communicator, self.rank_out)
        return (*outputs, delegate)
