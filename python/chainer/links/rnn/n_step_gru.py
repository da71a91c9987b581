"""Stacked gated recurrent units over whole sequences."""

from __future__ import annotations

import typing as tp

from chainer._base.docstrings import documented_like
from chainer.functions.rnn import n_step_gru as functions
from chainer.functions.rnn.n_step_gru import n_step_bigru, n_step_gru
from chainer.links.rnn.n_step_rnn import NStepRNNBase


class NStepGRUBase(NStepRNNBase):
    """What both have in common. Its arguments and attributes are those of `NStepRNNBase`."""

    n_weights = 6
    n_cells = 1


@documented_like(NStepRNNBase)
class NStepGRU(NStepGRUBase):
    """Stacked gated recurrent units; see `chainer.functions.n_step_gru`."""

    use_bi_direction = False
    _function = functions.NStepGRU

    def rnn(self, *args: tp.Any) -> tuple[tp.Any, ...]:
        return n_step_gru(*args)


@documented_like(NStepRNNBase)
class NStepBiGRU(NStepGRUBase):
    """Stacked gated recurrent units; see `chainer.functions.n_step_bigru`."""

    use_bi_direction = True
    _function = functions.NStepBiGRU

    def rnn(self, *args: tp.Any) -> tuple[tp.Any, ...]:
        return n_step_bigru(*args)
