"""Conditional random fields whose labels form a chain."""

from __future__ import annotations

import itertools
import re
import typing as tp

import chainerx
from chainerx._core import _argmax_crf1d, _crf1d, engine

from chainer import variable
from chainer._graph import callbacks
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.gradients import recomputed
from chainer.functions._precision import narrowed, widened
from chainer.functions.loss._reduction import check_reduce, mean
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InType, InTypes, NdArray, VariableLike


def _losses(cost: chainerx.ndarray, *rest: chainerx.ndarray) -> chainerx.ndarray:
    n = len(rest) // 2
    return _crf1d(widened(cost), [widened(x) for x in rest[:n]], list(rest[n:]))


def _best(cost: chainerx.ndarray, *rest: tp.Any) -> chainerx.ndarray:
    *xs, path = rest
    score, *labels = _argmax_crf1d(widened(cost), [widened(x) for x in xs])
    if path == []:
        path[:] = labels
    return narrowed(score, cost, xs[0])


# Keeps neither the sums of the steps nor the choices. A single step has nothing to keep.
_losses_again = recomputed('crf1d', _losses)
_best_again = recomputed('argmax_crf1d', _best, n_params=1)


class CRF1d(BuiltinFunction):
    """See `crf1d`. The inputs are the costs, followed by scores and labels, step by step."""

    def check_type_forward(self, in_types: InTypes) -> None:
        n = type_check.eval(in_types.size())
        type_check.expect(in_types.size() >= 3, in_types.size() % 2 == 1)
        xs = [in_types[i] for i in range(1, n // 2 + 1)]
        ys = [in_types[i] for i in range(n // 2 + 1, n)]
        _expect_scores(in_types[0], xs)
        for x, y in zip(xs, ys, strict=True):
            type_check.expect(y.dtype.kind == 'i', y.ndim == 1, y.shape[0] == x.shape[0])

    @staticmethod
    def compose(*inputs: chainerx.ndarray, reduce: str = 'mean') -> chainerx.ndarray:
        n = len(inputs) // 2 + 1
        inputs = (*_as_one_dtype(inputs[:n]), *inputs[n:])
        compute = _losses if len(inputs) == 3 else _losses_again
        try:
            losses = compute(*inputs)
        except IndexError as error:
            raise _with_step(error, [len(y) for y in inputs[n:]]) from None
        loss = losses if reduce == 'no' else mean(losses, max(len(losses), 1))
        return narrowed(loss, *inputs[:2])


class ArgMaxCRF1d(BuiltinFunction):
    """See `argmax_crf1d`: of the costs, followed by scores step by step.

    Attributes:
        path: None, or a list, which is given the labels if it is empty.
        keeps_path: Whether the list stays, for an export that looks for the labels.
    """

    keeps_path: tp.ClassVar[bool] = False

    check_uses_attributes = False

    def check_type_forward(self, in_types: InTypes) -> None:
        n = type_check.eval(in_types.size())
        type_check.expect(in_types.size() >= 2)
        _expect_scores(in_types[0], [in_types[i] for i in range(1, n)])

    @staticmethod
    def compose(
        cost: chainerx.ndarray, *xs: chainerx.ndarray, path: list[chainerx.ndarray] | None = None
    ) -> chainerx.ndarray:
        return (_best if len(xs) == 1 else _best_again)(*_as_one_dtype((cost, *xs)), path)


def _as_one_dtype(arrays: tuple[chainerx.ndarray, ...]) -> list[chainerx.ndarray]:
    dtype = chainerx.result_type(*arrays)
    return [x.astype(dtype, copy=False) for x in arrays]


def _expect_scores(cost: InType, xs: list[InType]) -> None:
    type_check.expect(cost.dtype.kind == 'f', cost.ndim == 2)
    type_check.expect(cost.shape[0] == cost.shape[1])
    for x in xs:
        type_check.expect(x.dtype == xs[0].dtype, x.dtype.kind == 'f', x.ndim == 2)
        type_check.expect(x.shape[1] == cost.shape[0])
    for before, x in itertools.pairwise(xs):
        type_check.expect(x.shape[0] <= before.shape[0])


_LABEL: tp.Final = re.compile(r'crf1d: x2\[(\d+)\] (is -?\d+), but x1 has (\d+) classes; (.*)')


def _with_step(error: IndexError, lengths: list[int]) -> IndexError:
    """The error about one of all labels, in terms of steps."""
    match = _LABEL.fullmatch(str(error))
    if match is None:
        return error
    place, step = int(match[1]), 0
    while place >= lengths[step]:
        place -= lengths[step]
        step += 1
    return IndexError(
        f'crf1d: ys[{step}][{place}] {match[2]}, but xs[{step}] has {match[3]} labels; {match[4]}'
    )


def _check_xs(op: str, xs: tp.Sequence[VariableLike]) -> None:
    if not len(xs):
        raise ValueError(f'{op}: xs has length 0, expected at least 1')


def crf1d(
    cost: VariableLike,
    xs: tp.Sequence[VariableLike],
    ys: tp.Sequence[VariableLike],
    reduce: str = 'mean',
) -> variable.Variable:
    """Minus the log-likelihood of label sequences under a linear-chain conditional random field.

    Sequences stand side by side, step by step: where one ends, it is missing from the back of the
    steps that follow, as `transpose_sequence` arranges those of falling length.

    Args:
        cost (Variable or array): (labels, labels), a float dtype: the score of going from a label
            (row) to the next (column).
        xs (sequence of Variable or array): The scores of each step, (sequences that go on, labels),
            of one float dtype; with one that differs from ``cost``'s, the wider one is computed in.
        ys (sequence of Variable or array): The labels of each step, (sequences that go on,),
            integers.
        reduce (str): 'mean' over sequences, or 'no' for the losses themselves.

    Returns:
        Variable: 0-d, or (sequences,). Differentiable in ``cost`` and ``xs``, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or the numbers of sequences rise.
        IndexError: If a label is out of range.
        ValueError: For an unknown ``reduce``, or where ``xs`` is empty or not as long as ``ys``.

    Source: Lafferty et al., ICML 2001.
    """
    check_reduce('crf1d', reduce)
    _check_xs('crf1d', xs)
    if len(xs) != len(ys):
        raise ValueError(f'crf1d: xs has length {len(xs)}, but ys has {len(ys)}')
    return CRF1d.call(cost, *xs, *ys, reduce=reduce)


def argmax_crf1d(
    cost: VariableLike, xs: tp.Sequence[VariableLike]
) -> tuple[variable.Variable, list[NdArray]]:
    """The label sequences that are most likely under a linear-chain conditional random field.

    Args:
        cost (Variable or array): As that of `crf1d`, (labels, labels), a float dtype.
        xs (sequence of Variable or array): As those of `crf1d`.

    Returns:
        tuple: The scores of the sequences, a Variable (sequences,), and the labels of each step,
        arrays (sequences that go on,) of int32. Differentiable in ``cost`` and ``xs``, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or the numbers of sequences rise.
        ValueError: If ``xs`` is empty.
    """
    _check_xs('argmax_crf1d', xs)
    path: list[object] = []
    score = ArgMaxCRF1d.call(cost, *xs, path=path)
    kind = engine.kind(score.array)
    labels = [callbacks.to_kind(step, kind) for step in path]
    # The graph is not to keep them, nor to fill the list again.
    path[:] = labels if ArgMaxCRF1d.keeps_path else [None]
    return score, labels
