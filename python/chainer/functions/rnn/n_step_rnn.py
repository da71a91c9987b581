"""Stacked simple recurrent layers over whole sequences."""

from __future__ import annotations

import typing as tp

from chainer._base.docstrings import documented_like
from chainer.functions.rnn._n_step import ListsOfArrays, NStep
from chainer.functions.rnn._steps import dropout_sequence as _dropout_sequence  # noqa: F401
from chainer.functions.rnn._steps import one_directional_loop as _one_directional_loop  # noqa: F401

if tp.TYPE_CHECKING:
    from chainer import variable
    from chainer._typing import VariableLike


class NStepRNNTanh(NStep):
    """See `n_step_rnn`."""

    cell = 'tanh'


class NStepRNNReLU(NStep):
    """See `n_step_rnn`."""

    cell = 'relu'


class NStepBiRNNTanh(NStep):
    """See `n_step_birnn`."""

    cell = 'tanh'
    directions = 2


class NStepBiRNNReLU(NStep):
    """See `n_step_birnn`."""

    cell = 'relu'
    directions = 2


def n_step_rnn(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[VariableLike],
    activation: str = 'tanh',
    **removed: object,
) -> tuple[variable.Variable, tuple[variable.Variable, ...]]:
    """Stacked simple recurrent layers over sequences.

    A step is ``h = f(w x + u h + b1 + b2)``.

    Args:
        n_layers (int): The number of layers.
        dropout_ratio (float): The dropout ratio between layers; without effect where
            ``chainer.config.train`` is False.
        hx (Variable or array): The first outputs, (layers, sequences, units), a float dtype.
        ws (list of lists of Variable or array): For each layer its weights, same dtype: for each
            gate that of the input, (units, features), then for each gate that of the state,
            (units, units). Features of layers above the first are units.
        bs (list of lists of Variable or array): The biases, (units,), in the same order.
        xs (list of Variable or array): For each step the inputs of all sequences that have it,
            (sequences, features). Longer sequences come first, so their number never rises.
        activation (str): 'tanh' or 'relu'.

    Returns:
        tuple: ``hy`` and ``ys``: the last states of all layers, as ``hx``, and a tuple of
        the outputs of the last layer for each step, (sequences, units). Differentiable in all
        arrays, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If lists have other lengths, or numbers are out of range.

    Source: Elman, Cognitive Science 1990.
    """
    return n_step_rnn_base(n_layers, dropout_ratio, hx, ws, bs, xs, activation, False, **removed)


@documented_like(n_step_rnn)
def n_step_birnn(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[VariableLike],
    activation: str = 'tanh',
    **removed: object,
) -> tuple[variable.Variable, tuple[variable.Variable, ...]]:
    """Stacked simple recurrent layers over sequences, in both directions.

    One direction begins with the first step, one with the last; the layer above sees both outputs,
    side by side. A step is that of `n_step_rnn`.

    Args:
        hx (Variable or array): The first outputs, (layers * 2, sequences, units), a float
            dtype; the directions of a layer follow each other.
        ws (list of lists of Variable or array): For each layer and direction its weights, same
            dtype: for each gate that of the input, (units, features), then for each gate that of
            the state, (units, units). Features of layers above the first are 2 * units.

    Returns:
        tuple: ``hy`` and ``ys``: the last states of all layers, as ``hx``, and a tuple of
        the outputs of the last layer for each step, (sequences, 2 * units). Differentiable in all
        arrays, any order.
    """
    return n_step_rnn_base(n_layers, dropout_ratio, hx, ws, bs, xs, activation, True, **removed)


def n_step_rnn_base(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike,
    ws: ListsOfArrays,
    bs: ListsOfArrays,
    xs: tp.Sequence[VariableLike],
    activation: str,
    use_bi_direction: bool,
    **removed: object,
) -> tuple[variable.Variable, tuple[variable.Variable, ...]]:
    """`n_step_rnn`, or, ``use_bi_direction``, `n_step_birnn`; the arguments are theirs."""
    if activation not in ('tanh', 'relu'):
        raise ValueError(f"n_step_rnn: activation is {activation!r}, expected 'tanh' or 'relu'")
    cls: type[NStep]
    if activation == 'tanh':
        cls = NStepBiRNNTanh if use_bi_direction else NStepRNNTanh
    else:
        cls = NStepBiRNNReLU if use_bi_direction else NStepRNNReLU
    name = 'n_step_birnn' if use_bi_direction else 'n_step_rnn'
    return cls._apply(name, n_layers, dropout_ratio, (hx,), ws, bs, xs, removed)
