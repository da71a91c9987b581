"""Stacked long short-term memories over whole sequences."""

from __future__ import annotations

import typing as tp

from chainer.functions.rnn._n_step import ListsOfArrays, NStep
from chainer.functions.rnn._steps import lstm_step as _lstm  # noqa: F401
from chainer.functions.rnn._steps import stack_weight as _stack_weight  # noqa: F401


class NStepLSTM(NStep):
    """See `n_step_lstm`."""

    cell = 'lstm'


class NStepBiLSTM(NStep):
    """See `n_step_bilstm`."""

    cell = 'lstm'
    directions = 2


def n_step_lstm(
    n_layers: int,
    dropout_ratio: float,
    hx: tp.Any,
    cx: tp.Any,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[tp.Any],
    **removed: tp.Any,
) -> tuple[tp.Any, ...]:
    """Stacked long short-term memories over sequences.

    A step with gates ``i``, ``f``, ``a``, ``o``, each ``w x + u h + b1 + b2``, is
    ``c = sigmoid(f) * c + sigmoid(i) * tanh(a)``, ``h = sigmoid(o) * tanh(c)``.

    Args:
        n_layers (int): The number of layers.
        dropout_ratio (float): Of what goes from one layer to the next; without effect where
            ``chainer.config.train`` is False.
        hx (Variable or array): The first outputs, (layers, sequences, units), a float dtype.
        cx (Variable or array): The first cells, same shape and dtype.
        ws (list of lists of Variable or array): For each layer its 8 weights, same
            dtype: for each gate that of the input, (units, features), then for each gate that of
            the state, (units, units). Features of layers above the first are units.
        bs (list of lists of Variable or array): The biases, (units,), in the same order.
        xs (list of Variable or array): For each step the inputs of all sequences that have it,
            (sequences, features). Longer sequences come first, so their number never rises.

    Returns:
        tuple: ``hy``, ``cy`` and ``ys``: the last states of all layers, as ``hx``, and a tuple of
        the outputs of the last layer for each step, (sequences, units). Differentiable in all
        arrays, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If lists have other lengths, or numbers are out of range.

    Source: Hochreiter and Schmidhuber, Neural Computation 1997.
    """
    return n_step_lstm_base(n_layers, dropout_ratio, hx, cx, ws, bs, xs, False, **removed)


def n_step_bilstm(
    n_layers: int,
    dropout_ratio: float,
    hx: tp.Any,
    cx: tp.Any,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[tp.Any],
    **removed: tp.Any,
) -> tuple[tp.Any, ...]:
    """Stacked long short-term memories over sequences, in both directions.

    One direction begins with the first step, one with the last; the layer above sees both outputs,
    side by side.

    A step with gates ``i``, ``f``, ``a``, ``o``, each ``w x + u h + b1 + b2``, is
    ``c = sigmoid(f) * c + sigmoid(i) * tanh(a)``, ``h = sigmoid(o) * tanh(c)``.

    Args:
        n_layers (int): The number of layers.
        dropout_ratio (float): Of what goes from one layer to the next; without effect where
            ``chainer.config.train`` is False.
        hx (Variable or array): The first outputs, (layers * 2, sequences, units), a float
            dtype; the directions of a layer follow each other.
        cx (Variable or array): The first cells, same shape and dtype.
        ws (list of lists of Variable or array): For each layer and direction its 8 weights, same
            dtype: for each gate that of the input, (units, features), then for each gate that of
            the state, (units, units). Features of layers above the first are 2 * units.
        bs (list of lists of Variable or array): The biases, (units,), in the same order.
        xs (list of Variable or array): For each step the inputs of all sequences that have it,
            (sequences, features). Longer sequences come first, so their number never rises.

    Returns:
        tuple: ``hy``, ``cy`` and ``ys``: the last states of all layers, as ``hx``, and a tuple of
        the outputs of the last layer for each step, (sequences, 2 * units). Differentiable in all
        arrays, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If lists have other lengths, or numbers are out of range.

    Source: Hochreiter and Schmidhuber, Neural Computation 1997.
    """
    return n_step_lstm_base(n_layers, dropout_ratio, hx, cx, ws, bs, xs, True, **removed)


def n_step_lstm_base(
    n_layers: int,
    dropout_ratio: float,
    hx: tp.Any,
    cx: tp.Any,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[tp.Any],
    use_bi_direction: bool,
    **removed: tp.Any,
) -> tuple[tp.Any, ...]:
    """`n_step_lstm`, or, ``use_bi_direction``, `n_step_bilstm`; the arguments are theirs."""
    cls: type[NStep] = NStepBiLSTM if use_bi_direction else NStepLSTM
    name = 'n_step_bilstm' if use_bi_direction else 'n_step_lstm'
    return cls._apply(name, n_layers, dropout_ratio, (hx, cx), ws, bs, xs, removed)
