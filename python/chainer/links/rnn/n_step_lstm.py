"""Stacked long short-term memories over whole sequences."""

from __future__ import annotations

import typing as tp

from chainer._base.docstrings import documented_like
from chainer.functions.rnn import n_step_lstm as functions
from chainer.functions.rnn.n_step_lstm import n_step_bilstm, n_step_lstm
from chainer.links.rnn.n_step_rnn import NStepRNNBase
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


class NStepLSTMBase(NStepRNNBase):
    """What both have in common. Its arguments and attributes are those of `NStepRNNBase`."""

    n_weights = 8
    n_cells = 2

    def forward(  # type: ignore[override]
        self,
        hx: VariableLike | None,
        cx: VariableLike | None,
        xs: tp.Sequence[VariableLike],
        **removed: object,
    ) -> tuple[Variable, Variable, list[Variable]]:
        """Apply the layers.

        Args:
            hx (Variable or array): The first outputs, (layers * directions, sequences, units);
                None for zeros.
            cx (Variable or array): The first cells, the same.
            xs (list of Variable or array): The sequences in any order, (length, features) each.

        Returns:
            tuple: The last outputs and cells of all layers, as ``hx``, and a list of the outputs of
            the last layer, (length, directions * units) for each sequence.
        """
        return self._call([hx, cx], xs, removed)


@documented_like(NStepRNNBase)
class NStepLSTM(NStepLSTMBase):
    """Stacked long short-term memories; see `chainer.functions.n_step_lstm`."""

    use_bi_direction = False
    _function = functions.NStepLSTM

    def rnn(self, *args: tp.Any) -> tuple[tp.Any, ...]:
        return n_step_lstm(*args)


@documented_like(NStepRNNBase)
class NStepBiLSTM(NStepLSTMBase):
    """Stacked long short-term memories; see `chainer.functions.n_step_bilstm`."""

    use_bi_direction = True
    _function = functions.NStepBiLSTM

    def rnn(self, *args: tp.Any) -> tuple[tp.Any, ...]:
        return n_step_bilstm(*args)
