"""Stacked gated recurrent units over whole sequences."""

from __future__ import annotations

import typing as tp

from chainer.functions.rnn._n_step import ListsOfArrays, NStep
from chainer.functions.rnn._steps import gru_step as _gru  # noqa: F401  (for libraries)


class NStepGRU(NStep):
    """See `n_step_gru`."""

    cell = 'gru'


class NStepBiGRU(NStep):
    """See `n_step_bigru`."""

    cell = 'gru'
    directions = 2


def n_step_gru(
    n_layers: int,
    dropout_ratio: float,
    hx: tp.Any,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[tp.Any],
    **removed: tp.Any,
) -> tuple[tp.Any, ...]:
    """Stacked gated recurrent units over sequences.

    A step is ``h = (1 - z) * n + z * h``, with ``r = sigmoid(wr x + ur h + b1 + b4)``,
    ``z = sigmoid(wz x + uz h + b2 + b5)``, ``n = tanh(wn x + b3 + r * (un h + b6))``.

    Args:
        n_layers (int): The number of layers.
        dropout_ratio (float): Of what goes from one layer to the next; without effect where
            ``chainer.config.train`` is False.
        hx (Variable or array): The first outputs, (layers, sequences, units), a float dtype.
        ws (list of lists of Variable or array): For each layer its 6 weights, same
            dtype: for each gate that of the input, (units, features), then for each gate that of
            the state, (units, units). Features of layers above the first are units.
        bs (list of lists of Variable or array): The biases, (units,), in the same order.
        xs (list of Variable or array): For each step the inputs of all sequences that have it,
            (sequences, features). Longer sequences come first, so their number never rises.

    Returns:
        tuple: ``hy`` and ``ys``: the last states of all layers, as ``hx``, and a tuple of
        the outputs of the last layer for each step, (sequences, units). Differentiable in all
        arrays, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If lists have other lengths, or numbers are out of range.

    Source: Cho et al., EMNLP 2014.
    """
    return n_step_gru_base(n_layers, dropout_ratio, hx, ws, bs, xs, False, **removed)


def n_step_bigru(
    n_layers: int,
    dropout_ratio: float,
    hx: tp.Any,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[tp.Any],
    **removed: tp.Any,
) -> tuple[tp.Any, ...]:
    """Stacked gated recurrent units over sequences, in both directions.

    One direction begins with the first step, one with the last; the layer above sees both outputs,
    side by side.

    A step is ``h = (1 - z) * n + z * h``, with ``r = sigmoid(wr x + ur h + b1 + b4)``,
    ``z = sigmoid(wz x + uz h + b2 + b5)``, ``n = tanh(wn x + b3 + r * (un h + b6))``.

    Args:
        n_layers (int): The number of layers.
        dropout_ratio (float): Of what goes from one layer to the next; without effect where
            ``chainer.config.train`` is False.
        hx (Variable or array): The first outputs, (layers * 2, sequences, units), a float
            dtype; the directions of a layer follow each other.
        ws (list of lists of Variable or array): For each layer and direction its 6 weights, same
            dtype: for each gate that of the input, (units, features), then for each gate that of
            the state, (units, units). Features of layers above the first are 2 * units.
        bs (list of lists of Variable or array): The biases, (units,), in the same order.
        xs (list of Variable or array): For each step the inputs of all sequences that have it,
            (sequences, features). Longer sequences come first, so their number never rises.

    Returns:
        tuple: ``hy`` and ``ys``: the last states of all layers, as ``hx``, and a tuple of
        the outputs of the last layer for each step, (sequences, 2 * units). Differentiable in all
        arrays, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If lists have other lengths, or numbers are out of range.

    Source: Cho et al., EMNLP 2014.
    """
    return n_step_gru_base(n_layers, dropout_ratio, hx, ws, bs, xs, True, **removed)


def n_step_gru_base(
    n_layers: int,
    dropout_ratio: float,
    hx: tp.Any,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[tp.Any],
    use_bi_direction: bool,
    **removed: tp.Any,
) -> tuple[tp.Any, ...]:
    """`n_step_gru`, or, ``use_bi_direction``, `n_step_bigru`; the arguments are theirs."""
    cls: type[NStep] = NStepBiGRU if use_bi_direction else NStepGRU
    name = 'n_step_bigru' if use_bi_direction else 'n_step_gru'
    return cls._apply(name, n_layers, dropout_ratio, (hx,), ws, bs, xs, removed)
