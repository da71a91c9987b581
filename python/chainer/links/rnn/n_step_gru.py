"""Stacked gated recurrent units over whole sequences."""

from __future__ import annotations

import typing as tp

from chainer.functions.rnn.n_step_gru import n_step_bigru, n_step_gru
from chainer.links.rnn.n_step_rnn import NStepRNNBase


class NStepGRUBase(NStepRNNBase):
    """What both have in common. Its arguments and attributes are those of `NStepRNNBase`."""

    n_weights = 6
    n_cells = 1


class NStepGRU(NStepGRUBase):
    """Stacked gated recurrent units.

    Its arguments and attributes are those of `NStepRNNBase`; see `chainer.functions.n_step_gru`.
    """

    use_bi_direction = False

    def rnn(self, *args: tp.Any) -> tuple[tp.Any, ...]:
        """`chainer.functions.n_step_gru`."""
        return n_step_gru(*args)


class NStepBiGRU(NStepGRUBase):
    """Stacked gated recurrent units, in both directions.

    Its arguments and attributes are those of `NStepRNNBase`; see `chainer.functions.n_step_bigru`.
    """

    use_bi_direction = True

    def rnn(self, *args: tp.Any) -> tuple[tp.Any, ...]:
        """`chainer.functions.n_step_bigru`."""
        return n_step_bigru(*args)
