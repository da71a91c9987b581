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
    sequences = _Sequences(g, n_states + 2 * n_weights)
    x, lengths = sequences.padded()
    units = g.shape(0)[2]
    states: list[list[str]] = [[] for _ in range(n_states)]
    for layer in range(layers):
        if layer and f.dropout_ratio and g.train:
            x = dropped(g, x, float(f.dropout_ratio))
        # Where the lists of a direction begin.
        picks = [(layer * directions + d) * 2 * n_gates for d in range(directions)]
        w = _joined(g, weights, [[p + i for i in order] for p in picks])
        r = _joined(g, weights, [[p + n_gates + i for i in order] for p in picks])
        both = [k * n_gates + i for k in range(2) for i in order]
        b = _joined(g, biases, [[p + i for i in both] for p in picks])
        rows = [layer * directions], [(layer + 1) * directions]
        begins = [g.slice(g.x[k], *rows, [0]) for k in range(n_states)]
        y, *lasts = g.op(
            op,
            [x, w, r, b, lengths, *begins],
            1 + n_states,
            hidden_size=units,
            direction='bidirectional' if directions == 2 else 'forward',
            activations=['Relu'] * directions if _cell(type(f).__name__) == 'rnn_relu' else None,
            linear_before_reset=1 if op == 'GRU' else None,
        )
        for k, last in enumerate(lasts):
            states[k].append(last)
        # (steps, directions, sequences, units) to (steps, sequences, directions * units)
        x = g.reshape(g.transpose(y, [0, 2, 1, 3]), [0, 0, directions * units])
    return (*(g.concat(s) for s in states), *sequences.taken_apart(x))


def _cell(name: str) -> str:
    kind = name.removeprefix('NStep').removeprefix('Bi')
    return {'RNNTanh': 'rnn_tanh', 'RNNReLU': 'rnn_relu'}.get(kind, kind.lower())


class _Sequences:
    """The last inputs of a function: sequences, or the steps of sequences of falling length.

    Args:
        g (Conversion): The function.
        first (int): The first of these inputs.
    """

    def __init__(self, g: Conversion, first: int) -> None:
        self._g = g
        self._xs = g.x[first:]
        self._places = range(first, len(g.x))
        self._n_steps = [g.shape(i)[0] for i in self._places]
        # The axis of the padded array along which the inputs lie.
        self._axis = 1 if g.func.by_sequence else 0
        is_open = g.func.by_sequence and any(
            not isinstance(g.lengths(i)[0], int) for i in self._places
        )
        self._open = [g.length_of(x, 0) for x in self._xs] if is_open else []

    def padded(self) -> tuple[str, str]:
        """All in one array, (steps, sequences, values), and the lengths of the sequences."""
        if self._open:
            return self._padded_open(), self._g.cast(self._g.concat(self._open), np.int32)
        longest = max(self._n_steps)
        rows = []
        for x, i, n in zip(self._xs, self._places, self._n_steps, strict=True):
            if n < longest:
                x = self._g.pad(x, [0, 0, longest - n, 0], 0, self._g.dtype(i))
            rows.append(self._g.unsqueeze(x, [self._axis]))
        lengths = self._n_steps
        if self._axis == 0:  # an input is a step, as long as there are sequences
            lengths = [sum(n > i for n in lengths) for i in range(longest)]
        return self._g.concat(rows, self._axis), self._g.const(lengths, 'lengths', np.int32)

    def _padded_open(self) -> str:
        g = self._g
        if len(self._xs) == 1:
            return g.unsqueeze(self._xs[0], [1])
        g.need(11, 'computed pads of Pad')
        longest = g.reduce('Max', g.cast(g.concat(self._open), np.float32), [0], keepdims=True)
        rows = []
        for x, count in zip(self._xs, self._open, strict=True):
            missing = g.op('Sub', [g.cast(longest, np.int64), count])
            pads = g.concat([g.ints([0, 0]), missing, g.ints([0])])
            rows.append(g.unsqueeze(g.op('Pad', [x, pads]), [1]))
        return g.concat(rows, 1)

    def taken_apart(self, y: str) -> list[str]:
        """The parts of an array like the padded one that belong to the inputs."""
        g = self._g
        columns = g.split(y, [1] * len(self._xs), self._axis)
        rows = [g.squeeze(column, [self._axis]) for column in columns]
        if self._open:
            zero = g.ints([0])
            ends = zip(rows, self._open, strict=True)
            return [g.op('Slice', [row, zero, end, zero]) for row, end in ends]
        return [g.slice(row, [0], [n], [0]) for row, n in zip(rows, self._n_steps, strict=True)]


def _joined(g: Conversion, values: tp.Sequence[str], picks: tp.Sequence[tp.Sequence[int]]) -> str:
    """Those of the gates behind each other, those of the directions along a new axis."""
    rows = [g.concat([values[i] for i in pick]) for pick in picks]
    return g.concat([g.unsqueeze(row, [0]) for row in rows])


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
    return (y if rest is None else g.concat([y, rest]), h)


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
