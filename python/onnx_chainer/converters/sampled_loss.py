"""Losses over some of the classes, over trees of them, and of embeddings of pixels."""

from __future__ import annotations

import itertools
import typing as tp

import numpy as np
from chainerx.onnx._index import LAST
from chainerx.onnx._terms import Term

from onnx_chainer import onnx_helper
from onnx_chainer.converters._registry import Conversion, converts


def _sum(x: Term, axes: tp.Sequence[int] | None, keepdims: bool = False) -> Term:
    return Term(x.g, x.g.reduce('Sum', x.name, axes, keepdims), x.dtype)


def _scores(g: Conversion, classes: str, weights: int = 2) -> Term:
    """The products of each row of x with the rows of W that its classes name."""
    x, w = g.wide(0), Term(g, g.op('Gather', [g.x[weights], classes]), g.dtype(weights))
    dtype = np.result_type(x.dtype, w.dtype)
    column = g.unsqueeze(x.cast(dtype).name, [2])
    product = g.op('MatMul', [w.cast(dtype).name, column])
    return Term(g, g.squeeze(product, [2]), dtype)


def _places(g: Conversion, x: str) -> str:
    """Integers as runtimes read them as indices."""
    return g.cast(x, np.int64)


@converts('BlackOut')
def black_out(g: Conversion) -> str:
    g.need(9, 'Sinh')
    right, wrong = _places(g, g.unsqueeze(g.x[1], [1])), _places(g, g.x[3])
    scores = _scores(g, g.concat([right, wrong], 1))
    log_p = g.op('LogSoftmax', [scores.name], axis=1)
    first, rest = (
        Term(g, x, scores.dtype)
        for x in (g.slice(log_p, [0], [1], [1]), g.slice(log_p, [1], [LAST], [1]))
    )
    # log(1 - p), where p may be nearly 1: 1 - exp(v) is -2 sinh(v / 2) exp(v / 2).
    half = rest * 0.5
    other = (half.op('Sinh') * half.exp() * -2).log()
    losses = -(Term(g, g.squeeze(first.name, [1]), scores.dtype) + _sum(other, [1]))
    y = losses.name if g.func.reduce == 'no' else g.reduce('Mean', losses.name, [0])
    return Term(g, y, scores.dtype).cast(g.out_dtype()).name


@converts('NegativeSamplingFunction')
def negative_sampling(g: Conversion) -> str:
    g.need(9, 'Where')
    t = Term(g, _places(g, g.x[1]), np.int64)
    is_used = ~t.op('Equal', -1, dtype=bool)
    right = _scores(g, g.unsqueeze(is_used.where(t, 0).name, [1]))
    # What the sampler gave; of a sampler in Python, the numbers of the export.
    drawn = _places(g, g.value_of(g.func.samples, 'samples'))
    n = g.func.samples.shape[1]
    wrong = _scores(g, g.slice(drawn, [1], [n], [1]))
    losses = Term(g, g.squeeze((-right).op('Softplus').name, [1]), right.dtype)
    losses = is_used.where(losses + _sum(wrong.op('Softplus'), [1]), 0)
    y = losses if g.func.reduce == 'no' else _sum(losses, [0])
    return y.cast(g.out_dtype()).name


@converts('BinaryHierarchicalSoftmaxFunction')
def binary_hierarchical_softmax(g: Conversion) -> str:
    paths, codes, begins = (
        onnx_helper.to_numpy(v) for v in (g.func.paths, g.func.codes, g.func.begins)
    )
    lengths = np.diff(begins)
    depth = max(int(lengths.max(initial=0)), 1)
    # A code of 0 stands for no node.
    nodes, ways = np.zeros((len(lengths), depth), np.int64), np.zeros((len(lengths), depth))
    for word, (begin, end) in enumerate(itertools.pairwise(begins)):
        nodes[word, : end - begin] = paths[begin:end]
        ways[word, : end - begin] = codes[begin:end]
    words = _places(g, g.x[1])
    scores = _scores(g, g.op('Gather', [g.const(nodes, 'nodes'), words]))
    table = g.const(ways, 'ways', scores.dtype)
    code = Term(g, g.op('Gather', [table, words]), scores.dtype)
    losses = (-(code * scores)).op('Softplus') * code.abs()
    return _sum(losses, None).cast(g.out_dtype()).name


@converts('DiscriminativeMarginBasedClusteringLoss')
def discriminative_loss(g: Conversion) -> tuple[str, ...]:
    f, (n, dim) = g.func, g.shape(0)[:2]
    g.need(9, 'Where')
    x = g.wide(0)
    points = Term(g, g.transpose(g.reshape(x.name, [0, 0, -1]), [0, 2, 1]), x.dtype)
    labels = Term(g, g.reshape(_places(g, g.x[1]), [0, 1, -1]), np.int64)
    numbers = g.const(np.arange(1, dim + 1)[:, None], 'numbers', np.int64)
    is_in = labels.op('Equal', Term(g, numbers, np.int64), dtype=bool)
    mask = is_in.cast(x.dtype)  # (n, instances, pixels)
    counts = _sum(mask, [2], True)
    centres = mask.op('MatMul', points) / counts.op('Max', 1)

    def spread(x: Term, axis: int) -> Term:
        return Term(g, g.unsqueeze(x.name, [axis]), x.dtype)

    offsets = _length(spread(centres, 2) - spread(points, 1), int(f.norm), [3])
    far = (offsets - float(f.delta_v)).op('Relu')
    apart = _sum(far * far * mask, [0, 2]) / _sum(counts, [0, 2]).op('Max', 1)
    between = _length(spread(centres, 2) - spread(centres, 1), int(f.norm), [3])
    near = (2 * float(f.delta_d) - between).op('Relu')
    others = Term(g, g.const(1 - np.eye(dim), 'others', x.dtype), x.dtype)
    rows = x.of(n)
    if g.is_open:
        rows = Term(g, g.squeeze(g.length_of(g.x[0], 0), [0]), np.int64).cast(x.dtype)
    losses = (
        _sum(apart, None) * (f.alpha / dim),
        _sum(near * near * others, None) * f.beta / (rows * (dim * (dim - 1))).op('Max', 1),
        _sum(_length(centres, int(f.norm), [0, 2]), None) * f.gamma / (rows * dim).op('Max', 1),
    )
    return tuple(y.cast(g.out_dtype()).name for y in losses)


def _length(x: Term, norm: int, axes: tp.Sequence[int]) -> Term:
    if norm == 1:
        return _sum(x.abs(), axes)
    square = _sum(x * x, axes)
    # The root has no slope at 0.
    is_some = square.cast(bool)
    return is_some.where(is_some.where(square, 1).sqrt(), 0)
