"""Sums over all ways of labels: of classifications whose places are unknown, and of CRFs."""

from __future__ import annotations

import typing as tp

import numpy as np
from chainerx.onnx._terms import Term
from onnx import numpy_helper

from onnx_chainer.converters._registry import Conversion, converts

# The logarithm of what is impossible: infinities have no gradients.
NEVER: tp.Final = -1e30


def _log_of_sum(g: Conversion, xs: tp.Sequence[Term]) -> Term:
    """The logarithm of a sum of exponentials."""
    names = [x.name for x in xs]
    best = Term(g, g.op('Max', [*names, xs[0].of(NEVER).name]), xs[0].dtype)
    total = Term(g, g.op('Sum', [(x - best).exp().name for x in xs]), xs[0].dtype)
    return total.log() + best


def _loss(g: Conversion, losses: Term) -> str:
    y = losses.name if g.func.reduce == 'no' else g.reduce('Mean', losses.name, [0])
    return Term(g, y, losses.dtype).cast(g.out_dtype()).name


def _row_lengths(g: Conversion, i: int, source: int, axis: int) -> str:
    """Input i as a column; a constant that says all of an open axis, or of open rows, opens."""
    known = [numpy_helper.to_array(t) for t in g.context.parameters if t.name == g.x[i]]
    n = g.shape(source)[axis]
    is_open = not isinstance(g.lengths(source)[axis], int)
    if known and (known[0] == n).all() and (is_open or not isinstance(g.lengths(3)[1], int)):
        rows = g.concat([g.length_of(g.x[3], 1), g.ints([1])])
        return g.op('Expand', [g.length_of(g.x[source], axis) if is_open else g.ints([n]), rows])
    return g.unsqueeze(g.cast(g.x[i], np.int64), [1])


@converts('ConnectionistTemporalClassification')
def connectionist_temporal_classification(g: Conversion) -> str:
    g.need(11, 'GatherElements')
    x, blank = g.wide(3), int(g.func.blank_symbol)
    g.hint([g.lengths(3)[1]] if g.func.reduce == 'no' else [])
    lengths, label_lengths = _row_lengths(g, 0, 3, 0), _row_lengths(g, 1, 2, 1)
    labels = Term(g, g.cast(g.x[2], np.int64), np.int64)
    column = Term(g, label_lengths, np.int64) * 0
    # blank, label, blank, ..., label, blank
    pairs = g.concat([g.unsqueeze(y.name, [2]) for y in (labels * 0 + blank, labels)], 2)
    row = [g.reshape(pairs, [0, -1]), (column + blank).name]
    path = Term(g, g.concat(row, 1), np.int64)

    def moved(y: Term, first: Term) -> Term:
        rest = g.slice(y.name, [0], [-1], [1])
        return Term(g, g.concat([first.name, rest], 1), y.dtype)

    # A label may follow another one without a blank between them.
    zeros, never = (column.cast(x.dtype) + value for value in (0.0, NEVER))
    before = moved(moved(path, column - 1), column - 1)
    is_new = ~path.op('Equal', before, dtype=bool)
    skip = is_new.where(0, (path * 0).cast(x.dtype) + NEVER)
    log_p = g.flat_softmax('LogSoftmax', x.name, 2, 3)

    def step(number: str, states: list[str]) -> tuple[list[str], list[tuple[str, tp.Any]]]:
        old = Term(g, states[0], x.dtype)
        scores = g.op('Gather', [log_p, number], axis=0)
        here = Term(g, g.op('GatherElements', [scores, path.name], axis=1), x.dtype)
        one = moved(old, never)
        new = _log_of_sum(g, [old, one, moved(one, never) + skip]) + here
        goes_on = Term(g, g.op('Less', [number, lengths]), bool)
        return [goes_on.where(new, old).name], []

    # Before the first step all are at the first blank, and may stay there.
    first = moved((path * 0).cast(x.dtype) + NEVER, zeros)
    steps = g.squeeze(g.length_of(g.x[3], 0), [0])
    (last,) = g.loop(steps, [(first.name, x.dtype)], step)
    end = Term(g, label_lengths, np.int64) * 2
    is_some = end > 0
    ends = [
        Term(g, g.op('GatherElements', [last, place.name], axis=1), x.dtype)
        for place in (end, is_some.where(end - 1, 0))
    ]
    total = _log_of_sum(g, [ends[0], is_some.where(ends[1], NEVER)])
    total = (total < NEVER / 2).where(-np.inf, total)
    return _loss(g, -Term(g, g.squeeze(total.name, [1]), x.dtype))


# Chains of labels


def _counts(g: Conversion, xs: tp.Sequence[int]) -> list[int]:
    """How many sequences have each step; they are of falling length."""
    return [g.shape(i)[0] for i in xs]


def _parted(g: Conversion, y: Term, count: int, whole: int) -> tuple[Term, list[Term]]:
    """The sequences that go on, and those that have ended."""
    if count == whole:
        return y, []
    parts = g.split(y.name, [count, whole - count], 0)
    return Term(g, parts[0], y.dtype), [Term(g, parts[1], y.dtype)]


def _joined(g: Conversion, y: Term, ended: list[Term]) -> Term:
    if not ended:
        return y
    names = [y.name, *(part.name for part in reversed(ended))]
    return Term(g, g.concat(names), y.dtype)


def _scores(g: Conversion, n: int) -> tuple[Term, list[Term]]:
    """The costs of transitions and the scores of steps, in one dtype."""
    dtype = np.result_type(*(g.dtype(i) for i in range(n + 1)), np.float32)
    cost, *xs = (g.term(i).cast(dtype) for i in range(n + 1))
    return cost, xs


@converts('CRF1d')
def crf1d(g: Conversion) -> str:
    g.need(11, 'GatherElements')
    n = len(g.x) // 2
    cost, xs = _scores(g, n)
    counts, classes = _counts(g, range(1, n + 1)), g.fixed(0, 0)
    flat = g.reshape(cost.name, [-1])
    labels = [Term(g, g.cast(x, np.int64), np.int64) for x in g.x[1 + n :]]

    def score_of(x: Term, label: Term) -> Term:
        found = g.op('GatherElements', [x.name, g.unsqueeze(label.name, [1])], axis=1)
        return Term(g, g.squeeze(found, [1]), x.dtype)

    # Of each sequence, the sums over all ways so far by their last label; the sum of its own way.
    sums, way, ended_sums, ended_ways = xs[0], score_of(xs[0], labels[0]), [], []
    for i in range(1, n):
        sums, rest = _parted(g, sums, counts[i], counts[i - 1])
        ended_sums += rest
        way, rest = _parted(g, way, counts[i], counts[i - 1])
        ended_ways += rest
        old, _ = _parted(g, labels[i - 1], counts[i], counts[i - 1])
        both = Term(g, g.unsqueeze(sums.name, [2]), cost.dtype) + cost
        sums = Term(g, g.reduce('LogSumExp', both.name, [1]), cost.dtype) + xs[i]
        step = Term(g, g.op('Gather', [flat, (old * classes + labels[i]).name]), cost.dtype)
        way = way + step + score_of(xs[i], labels[i])
    total = g.reduce('LogSumExp', _joined(g, sums, ended_sums).name, [1])
    return _loss(g, Term(g, total, cost.dtype) - _joined(g, way, ended_ways))


@converts('ArgMaxCRF1d')
def argmax_crf1d(g: Conversion) -> str:
    n = len(g.x) - 1
    cost, xs = _scores(g, n)
    counts = _counts(g, range(1, n + 1))
    best, ended, origins = xs[0], [], []
    for i in range(1, n):
        best, rest = _parted(g, best, counts[i], counts[i - 1])
        ended += rest
        both = (Term(g, g.unsqueeze(best.name, [2]), cost.dtype) + cost).name
        origins.append(g.op('ArgMax', [both], axis=1, keepdims=0))
        best = Term(g, g.reduce('Max', both, [1]), cost.dtype) + xs[i]
    whole = _joined(g, best, ended).name
    if wanted := g.wanted():
        _write_labels(g, whole, origins, counts, wanted)
    score = Term(g, g.reduce('Max', whole, [1]), cost.dtype)
    return score.cast(g.out_dtype()).name


def _write_labels(
    g: Conversion, best: str, origins: list[str], counts: list[int], wanted: list[tp.Any]
) -> None:
    """The labels of the best ways, from the last step back."""
    g.need(11, 'GatherElements')
    label = g.op('ArgMax', [best], axis=1, keepdims=1)
    labels = []
    # `label` has the sequences of all steps so far; those that ended before wait.
    for i in reversed(range(len(counts))):
        here, _ = _parted(g, Term(g, label, np.int64), counts[i], counts[0])
        labels.append(here.name)
        if i == 0:
            break
        back = g.op('GatherElements', [origins[i - 1], here.name], axis=1)
        _, rest = _parted(g, Term(g, label, np.int64), counts[i], counts[0])
        label = g.concat([back, *(x.name for x in rest)])
    for array, name in zip(g.params.byproducts, reversed(labels), strict=True):
        if any(array is x for x in wanted):
            g.context.know_array(array, g.cast(g.squeeze(name, [1]), array.dtype))
