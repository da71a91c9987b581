"""Stacked gated recurrent units over whole sequences."""

from __future__ import annotations

import typing as tp

from chainer._base.docstrings import documented_like
from chainer.functions.rnn._n_step import ListsOfArrays, NStep
from chainer.functions.rnn._steps import gru_step as _gru  # noqa: F401  (for libraries)
from chainer.functions.rnn.n_step_rnn import n_step_birnn, n_step_rnn

if tp.TYPE_CHECKING:
    from chainer import variable
    from chainer._typing import VariableLike


class NStepGRU(NStep):
    """See `n_step_gru`."""

    cell = 'gru'


class NStepBiGRU(NStep):
    """See `n_step_bigru`."""

    cell = 'gru'
    directions = 2


@documented_like(n_step_rnn)
def n_step_gru(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[VariableLike],
    **removed: object,
) -> tuple[variable.Variable, tuple[variable.Variable, ...]]:
    """Stacked gated recurrent units over sequences.

    A step is ``h = (1 - z) * n + z * h``, with ``r = sigmoid(wr x + ur h + b1 + b4)``,
    ``z = sigmoid(wz x + uz h + b2 + b5)``, ``n = tanh(wn x + b3 + r * (un h + b6))``: 6 weights and
    6 biases in a list.

    Source: Cho et al., EMNLP 2014.
    """
    return n_step_gru_base(n_layers, dropout_ratio, hx, ws, bs, xs, False, **removed)


@documented_like(n_step_birnn)
def n_step_bigru(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[VariableLike],
    **removed: object,
) -> tuple[variable.Variable, tuple[variable.Variable, ...]]:
    """Stacked gated recurrent units over sequences, in both directions.

    One direction begins with the first step, one with the last; the layer above sees both outputs,
    side by side. A step is that of `n_step_gru`.

    Source: Cho et al., EMNLP 2014.
    """
    return n_step_gru_base(n_layers, dropout_ratio, hx, ws, bs, xs, True, **removed)


def n_step_gru_base(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[VariableLike],
    use_bi_direction: bool,
    **removed: object,
) -> tuple[variable.Variable, tuple[variable.Variable, ...]]:
    """`n_step_gru`, or, ``use_bi_direction``, `n_step_bigru`; the arguments are theirs."""
    cls: type[NStep] = NStepBiGRU if use_bi_direction else NStepGRU
    name = 'n_step_bigru' if use_bi_direction else 'n_step_gru'
    return cls._apply(name, n_layers, dropout_ratio, (hx,), ws, bs, xs, removed)
