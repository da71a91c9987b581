"""Stacked gated recurrent units over whole sequences."""

from __future__ import annotations

import typing as tp

from chainer.functions.rnn import n_step_gru as functions
from chainer.functions.rnn.n_step_gru import n_step_bigru, n_step_gru
from chainer.links.rnn.n_step_rnn import NStepRNNBase


class NStepGRUBase(NStepRNNBase):
    """What both have in common. Its arguments and attributes are those of `NStepRNNBase`."""

    n_weights = 6
    n_cells = 1


class NStepGRU(NStepGRUBase):
    """Stacked gated recurrent units.

    See `chainer.functions.n_step_gru`; its attributes are those of `NStepRNNBase`.

    Args:
        n_layers (int): The number of layers.
        in_size (int): Features of the inputs.
        out_size (int): Units of each layer and direction.
        dropout (float): Ratio of the dropout between layers.
        initialW: Initializer of the weights; `LeCunNormal` by default.
        initial_bias: Initializer of the biases; 0 by default.
    """

    use_bi_direction = False
    _function = functions.NStepGRU

    def rnn(self, *args: tp.Any) -> tuple[tp.Any, ...]:
        return n_step_gru(*args)


class NStepBiGRU(NStepGRUBase):
    """Stacked gated recurrent units, in both directions.

    See `chainer.functions.n_step_bigru`; its attributes are those of `NStepRNNBase`.

    Args:
        n_layers (int): The number of layers.
        in_size (int): Features of the inputs.
        out_size (int): Units of each layer and direction.
        dropout (float): Ratio of the dropout between layers.
        initialW: Initializer of the weights; `LeCunNormal` by default.
        initial_bias: Initializer of the biases; 0 by default.
    """

    use_bi_direction = True
    _function = functions.NStepBiGRU

    def rnn(self, *args: tp.Any) -> tuple[tp.Any, ...]:
        return n_step_bigru(*args)
