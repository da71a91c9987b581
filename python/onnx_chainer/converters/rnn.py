"""Recurrent layers over whole sequences, and a step of an LSTM."""

from __future__ import annotations

import typing as tp

import numpy as np

from onnx_chainer.converters._registry import Conversion, converts
from onnx_chainer.converters.noise import dropped

# Of each cell: the operator, how many gates, and where the operator's gates are among Chainer's.
CELLS: tp.Final = {
    'lstm': ('LSTM', (0, 3, 1, 2)),
    'gru': ('GRU', (1, 0, 2)),
    'rnn_tanh': ('RNN', (0,)),
    'rnn_relu': ('RNN', (0,)),
}


@converts(
    'NStepLSTM',
    'NStepBiLSTM',
    'NStepGRU',
    'NStepBiGRU',
    'NStepRNNTanh',
    'NStepBiRNNTanh',
    'NStepRNNReLU',
    'NStepBiRNNReLU',
)
def n_step(g: Conversion) -> tuple[str, ...]:
    f = g.func
    op, order = CELLS[_cell(type(f).__name__)]
    n_gates, directions, layers = len(order), int(f.directions), int(f.n_layers)
    n_states = 2 if op == 'LSTM' else 1
    n_weights = 2 * n_gates * directions * layers
    weights = g.x[n_states : n_states + n_weights]
    biases = g.x[n_states + n_weights : n_states + 2 * n_weights]
    first = n_states + 2 * n_weights
    shapes = [g.shape(i) for i in range(first, len(g.x))]
    is_open = f.by_sequence and any(
        not isinstance(g.lengths(i)[0], int) for i in range(first, len(g.x))
    )
    counts = [g.length_of(x, 0) for x in g.x[first:]] if is_open else []
    if is_open:
        x = _padded_open(g, g.x[first:], counts)
        lens = g.cast(_joined_counts(g, counts), np.int32)
    else:
        x, lengths = _padded(g, g.x[first:], shapes, f.by_sequence)
        lens = g.const(np.array(lengths, np.int32), 'lengths')
    units = g.shape(0)[2]
    states: list[list[str]] = [[] for _ in range(n_states)]
    for layer in range(layers):
        if layer and f.dropout_ratio and g.train:
            x = dropped(g, x, float(f.dropout_ratio))
        picks = [
            (layer * directions + d) * 2 * n_gates for d in range(directions)
        ]  # where the lists of a direction begin
        w = _joined(g, weights, [[p + i for i in order] for p in picks])
        r = _joined(g, weights, [[p + n_gates + i for i in order] for p in picks])
        b = _joined(
            g, biases, [[p + k * n_gates + i for k in range(2) for i in order] for p in picks]
        )
        begins = [
            g.slice(g.x[k], [layer * directions], [(layer + 1) * directions], [0])
            for k in range(n_states)
        ]
        found = g.op(
            op,
            [x, w, r, b, lens, *begins],
            1 + n_states,
            hidden_size=units,
            direction='bidirectional' if directions == 2 else 'forward',
            activations=['Relu'] * directions if _cell(type(f).__name__) == 'rnn_relu' else None,
            linear_before_reset=1 if op == 'GRU' else None,
        )
        y, *lasts = found
        for k, last in enumerate(lasts):
            states[k].append(last)
        # (steps, directions, sequences, units) to (steps, sequences, directions * units)
        x = g.reshape(g.transpose(y, [0, 2, 1, 3]), [0, 0, directions * units])
    ends = [g.op('Concat', s, axis=0) if len(s) > 1 else s[0] for s in states]
    axis = 1 if f.by_sequence else 0
    columns = g.split(x, [1] * len(shapes), axis)
    rows = [g.squeeze(column, [axis]) for column in columns]
    if is_open:
        zero = g.ints([0])
        ys = [g.op('Slice', [x, zero, n, zero]) for x, n in zip(rows, counts, strict=True)]
    else:
        ys = [g.slice(x, [0], [shape[0]], [0]) for x, shape in zip(rows, shapes, strict=True)]
    return (*ends, *ys)


def _cell(name: str) -> str:
    kind = name.removeprefix('NStep').removeprefix('Bi')
    return {'RNNTanh': 'rnn_tanh', 'RNNReLU': 'rnn_relu'}.get(kind, kind.lower())


def _joined_counts(g: Conversion, counts: tp.Sequence[str]) -> str:
    return g.op('Concat', counts, axis=0) if len(counts) > 1 else counts[0]


def _padded_open(g: Conversion, xs: tp.Sequence[str], counts: tp.Sequence[str]) -> str:
    """All steps of sequences of any length in one array, (steps, sequences, values)."""
    if len(xs) == 1:
        return g.unsqueeze(xs[0], [1])
    g.need(11, 'computed pads of Pad')
    longest = g.reduce('Max', g.cast(_joined_counts(g, counts), np.float32), [0], keepdims=True)
    rows = []
    for x, count in zip(xs, counts, strict=True):
        missing = g.op('Sub', [g.cast(longest, np.int64), count])
        pads = g.op('Concat', [g.ints([0, 0]), missing, g.ints([0])], axis=0)
        rows.append(g.unsqueeze(g.op('Pad', [x, pads]), [1]))
    return g.op('Concat', rows, axis=1)


def _padded(
    g: Conversion, xs: tp.Sequence[str], shapes: tp.Sequence[tuple[int, ...]], by_sequence: bool
) -> tuple[str, list[int]]:
    """All steps of all sequences in one array, (steps, sequences, values), and their lengths."""
    longest = max(shape[0] for shape in shapes)
    rows = []
    for i, (x, shape) in enumerate(zip(xs, shapes, strict=True)):
        missing = longest - shape[0]
        if missing:
            x = g.pad(x, [0, 0, missing, 0], 0, g.dtype(len(g.x) - len(xs) + i))
        rows.append(g.unsqueeze(x, [1 if by_sequence else 0]))
    whole = g.op('Concat', rows, axis=1 if by_sequence else 0)
    counts = [shape[0] for shape in shapes]
    if by_sequence:
        return whole, counts
    return whole, [sum(n > i for n in counts) for i in range(longest)]


def _joined(g: Conversion, values: tp.Sequence[str], picks: tp.Sequence[tp.Sequence[int]]) -> str:
    """Those of the gates behind each other, those of the directions along a new axis."""
    rows = []
    for pick in picks:
        parts = [values[i] for i in pick]
        row = g.op('Concat', parts, axis=0) if len(parts) > 1 else parts[0]
        rows.append(g.unsqueeze(row, [0]))
    return g.op('Concat', rows, axis=0) if len(rows) > 1 else rows[0]


@converts('LSTM')
def lstm(g: Conversion) -> tuple[str, str]:
    c, x = g.x
    shape, n = g.shape(1), g.shape(1)[0]
    units = shape[1] // 4
    gates = g.split(g.reshape(x, [0, units, 4, *shape[2:]]), [1] * 4, 2)
    a, i, f, o = (g.squeeze(gate, [2]) for gate in gates)
    rest = None
    if g.shape(0)[0] > n:  # of sequences that have ended
        c, rest = g.split(c, [n, g.shape(0)[0] - n], 0)
    fresh = g.op('Mul', [g.op('Tanh', [a]), g.op('Sigmoid', [i])])
    kept = g.op('Mul', [g.op('Sigmoid', [f]), c])
    y = g.op('Add', [fresh, kept])
    h = g.op('Mul', [g.op('Sigmoid', [o]), g.op('Tanh', [y])])
    return (y if rest is None else g.op('Concat', [y, rest], axis=0), h)


@converts('SLSTM')
def slstm(g: Conversion) -> tuple[str, str]:
    c1, c2, x1, x2 = g.x
    units = g.shape(0)[1]
    sides = []
    for x in (x1, x2):
        gates = g.split(g.reshape(x, [0, units, 4, *g.shape(0)[2:]]), [1] * 4, 2)
        sides.append([g.squeeze(gate, [2]) for gate in gates])
    terms = []
    for c, (a, i, f, _) in zip((c1, c2), sides, strict=True):
        terms.append(g.op('Mul', [g.op('Tanh', [a]), g.op('Sigmoid', [i])]))
        terms.append(g.op('Mul', [g.op('Sigmoid', [f]), c]))
    y = g.op('Sum', terms)
    o = g.op('Sigmoid', [g.op('Add', [side[3] for side in sides])])
    return y, g.op('Mul', [o, g.op('Tanh', [y])])


@converts('TreeLSTM')
def tree_lstm(g: Conversion) -> tuple[str, str]:
    *cells, x = g.x
    units = g.shape(0)[1]
    a, i, o, *forgets = g.split(x, [units] * (3 + len(cells)), 1)
    terms = [g.op('Mul', [g.op('Tanh', [a]), g.op('Sigmoid', [i])])]
    for f, c in zip(forgets, cells, strict=True):
        terms.append(g.op('Mul', [g.op('Sigmoid', [f]), c]))
    y = g.op('Sum', terms)
    return y, g.op('Mul', [g.op('Sigmoid', [o]), g.op('Tanh', [y])])
