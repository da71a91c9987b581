"""Stacked long short-term memories over whole sequences."""

from __future__ import annotations

import typing as tp

from chainer._base.docstrings import documented_like
from chainer.functions.rnn._n_step import ListsOfArrays, NStep
from chainer.functions.rnn._steps import lstm_step as _lstm  # noqa: F401
from chainer.functions.rnn._steps import stack_weight as _stack_weight  # noqa: F401
from chainer.functions.rnn.n_step_rnn import n_step_birnn, n_step_rnn

if tp.TYPE_CHECKING:
    from chainer import variable
    from chainer._typing import VariableLike


class NStepLSTM(NStep):
    """See `n_step_lstm`."""

    cell = 'lstm'


class NStepBiLSTM(NStep):
    """See `n_step_bilstm`."""

    cell = 'lstm'
    directions = 2


@documented_like(n_step_rnn)
def n_step_lstm(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike,
    cx: VariableLike,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[VariableLike],
    **removed: object,
) -> tuple[variable.Variable, variable.Variable, tuple[variable.Variable, ...]]:
    """Stacked long short-term memories over sequences.

    A step with gates ``i``, ``f``, ``a``, ``o``, each ``w x + u h + b1 + b2``, is
    ``c = sigmoid(f) * c + sigmoid(i) * tanh(a)``, ``h = sigmoid(o) * tanh(c)``: 8 weights and 8
    biases in a list.

    Args:
        cx (Variable or array): The first cells, same shape and dtype.

    Returns:
        tuple: ``hy``, ``cy`` and ``ys``: the last states of all layers, as ``hx``, and a tuple of
        the outputs of the last layer for each step, (sequences, units). Differentiable in all
        arrays, any order.

    Source: Hochreiter and Schmidhuber, Neural Computation 1997.
    """
    return n_step_lstm_base(n_layers, dropout_ratio, hx, cx, ws, bs, xs, False, **removed)


@documented_like(n_step_birnn)
def n_step_bilstm(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike,
    cx: VariableLike,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[VariableLike],
    **removed: object,
) -> tuple[variable.Variable, variable.Variable, tuple[variable.Variable, ...]]:
    """Stacked long short-term memories over sequences, in both directions.

    One direction begins with the first step, one with the last; the layer above sees both outputs,
    side by side. A step is that of `n_step_lstm`.

    Args:
        cx (Variable or array): The first cells, same shape and dtype.

    Returns:
        tuple: ``hy``, ``cy`` and ``ys``: the last states of all layers, as ``hx``, and a tuple of
        the outputs of the last layer for each step, (sequences, 2 * units). Differentiable in all
        arrays, any order.

    Source: Hochreiter and Schmidhuber, Neural Computation 1997.
    """
    return n_step_lstm_base(n_layers, dropout_ratio, hx, cx, ws, bs, xs, True, **removed)


def n_step_lstm_base(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike,
    cx: VariableLike,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[VariableLike],
    use_bi_direction: bool,
    **removed: object,
) -> tuple[variable.Variable, variable.Variable, tuple[variable.Variable, ...]]:
    """`n_step_lstm`, or, ``use_bi_direction``, `n_step_bilstm`; the arguments are theirs."""
    cls: type[NStep] = NStepBiLSTM if use_bi_direction else NStepLSTM
    name = 'n_step_bilstm' if use_bi_direction else 'n_step_lstm'
    return cls._apply(name, n_layers, dropout_ratio, (hx, cx), ws, bs, xs, removed)
