"""`CRF1d`: a conditional random field whose labels form a chain."""

from __future__ import annotations

import typing as tp

from chainer import initializers
from chainer.functions.array.transpose_sequence import transpose_sequence
from chainer.functions.loss.crf1d import argmax_crf1d, crf1d
from chainer.link import Link
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, NdArray, VariableLike


class CRF1d(Link):
    """The loss of a chain of labels; see `chainer.functions.crf1d`.

    Args:
        n_label: Number of labels.
        initial_cost: Initializer of `cost`; 0 by default.

    Attributes:
        cost (Parameter): ``(n_label, n_label)``: the score of going from a label to the next.
    """

    def __init__(self, n_label: int, initial_cost: InitializerSpec | None = None) -> None:
        super().__init__()
        cost = initializers._get_initializer(0 if initial_cost is None else initial_cost)
        with self.init_scope():
            self.cost = Parameter(cost, (n_label, n_label))

    def forward(
        self,
        xs: tp.Sequence[VariableLike],
        ys: tp.Sequence[VariableLike],
        reduce: str = 'mean',
        transpose: bool = False,
    ) -> Variable:
        """The loss.

        Args:
            xs (sequence of Variable or array): Scores, step by step; see `chainer.functions.crf1d`.
            ys (sequence of Variable or array): Labels, step by step.
            reduce (str): 'mean', or 'no'.
            transpose (bool): Whether `xs` and `ys` are sequence by sequence instead, of any
                lengths.

        Returns:
            Variable: 0-d, or one per sequence; with `transpose` in the order of falling lengths.
        """
        if transpose:
            order = _by_falling_length(xs)
            xs = transpose_sequence([xs[i] for i in order])
            ys = transpose_sequence([ys[i] for i in order])
        return crf1d(self.cost, xs, ys, reduce)

    def argmax(
        self, xs: tp.Sequence[VariableLike], transpose: bool = False
    ) -> tuple[Variable, list[NdArray]]:
        """The labels that are most likely.

        Args:
            xs (sequence of Variable or array): Scores, as above.
            transpose (bool): As above; the labels are sequence by sequence, too.

        Returns:
            tuple: The scores, a Variable, with `transpose` in the order of falling lengths; and the
            labels, a list of arrays of int32, with `transpose` in the order of `xs`.
        """
        if not transpose:
            return argmax_crf1d(self.cost, xs)
        order = _by_falling_length(xs)
        score, path = argmax_crf1d(self.cost, transpose_sequence([xs[i] for i in order]))
        found = dict(zip(order, transpose_sequence(path), strict=True))
        return score, [found[i].array for i in range(len(xs))]


def _by_falling_length(xs: tp.Sequence[VariableLike]) -> list[int]:
    return sorted(range(len(xs)), key=lambda i: -len(xs[i]))
