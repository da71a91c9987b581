"""Rows of chainer.links.rnn."""

import numpy as np
from functions.cases.connection import linear
from functions.cases.rnn import lstm, tree_lstm
from links.cases._table import InvalidType, L, Row, call, f, own, steps
from scipy.special import expit as sigmoid

from cases.rnn.recurrent import GATES, n_step


def of(p, name, x):
    return linear(x, p[f'{name}/W'], p.get(f'{name}/b'))


def lstm_step(p, c, h, x):
    gates = of(p, 'upward', x)
    if h is not None:
        gates[: len(h)] += of(p, 'lateral', h)[: len(x)]
    return lstm(np.zeros((len(x), gates.shape[1] // 4)) if c is None else c, gates)


def lstm_steps(p, *xs):
    c, h, hs = None, None, []
    for x in xs:
        c, h = lstm_step(p, c, h, x)
        hs.append(h)
    return hs


def gru_step(p, h, x):
    if h is None:
        return sigmoid(of(p, 'W_z', x)) * np.tanh(of(p, 'W', x))
    r, z = (sigmoid(of(p, f'W_{k}', x) + of(p, f'U_{k}', h)) for k in 'rz')
    return z * np.tanh(of(p, 'W', x) + of(p, 'U', r * h)) + (1 - z) * h


def mgu_step(p, h, x):
    h = np.zeros((len(x), 2)) if h is None else h
    forget = sigmoid(of(p, 'W_f', np.concatenate([h, x], 1)))
    new = np.tanh(of(p, 'W_h', np.concatenate([forget * h, x], 1)))
    return forget * new + (1 - forget) * h


def by_steps(step):
    def run(p, *xs):
        hs = [None]
        for x in xs:
            hs.append(step(p, hs[-1], x))
        return hs[1:]

    return run


def peephole(p, *xs):
    c, h, hs = np.zeros((2, 2)), np.zeros((2, 2)), []
    for x in xs:
        a, i, k, o = np.moveaxis((of(p, 'upward', x) + of(p, 'lateral', h)).reshape(2, 2, 4), 2, 0)
        c = np.tanh(a) * sigmoid(i + of(p, 'peep_i', c)) + sigmoid(k + of(p, 'peep_f', c)) * c
        h = sigmoid(o + of(p, 'peep_o', c)) * np.tanh(c)
        hs.append(h)
    return hs


def child_sum(p, c1, c2, h1, h2, x):
    wx = of(p, 'W_x', x)
    aio = wx[:, :6] + of(p, 'W_h_aio', h1 + h2)
    forgets = [wx[:, 6:] + of(p, 'W_h_f', h) for h in (h1, h2)]
    return tree_lstm(c1, c2, np.concatenate([aio, *forgets], 1))


def n_ary(p, c1, c2, h1, h2, x):
    return tree_lstm(c1, c2, of(p, 'W_x', x) + of(p, 'W_h1', h1) + of(p, 'W_h2', h2))


def sequences(cell, directions):
    def run(p, *args):
        *states, xs = args
        ws, bs = (
            [[p[f'{i}/{k}{j}'] for j in range(2 * GATES[cell])] for i in range(directions)]
            for k in 'wb'
        )
        lengths = [len(x) for x in xs]
        by_time = [np.stack([x[t] for x in xs if t < len(x)]) for t in range(lengths[0])]
        *new, ys = _split(n_step(cell, directions, 1, states[0], states[1] if states[1:] else None,
                                 ws, bs, by_time), len(states))  # fmt: skip
        return [*new, *([y[i] for y in ys if i < len(y)] for i in range(len(xs)))]

    return run


def _split(found, n):
    return (*found[:n], found[n:])


def n_step_row(bi, name, cell):
    directions = 2 if bi else 1
    cls = f'NStep{bi}{name}'
    states = [f(directions, 2, 2)] * (2 if cell == 'lstm' else 1)

    def too_much_dropout():
        getattr(L, cls)(1, 3, 2, 1.5)(*[None] * len(states), [np.ones((1, 3), 'f')])

    return Row(
        cls,
        lambda: getattr(L, cls)(1, 3, 2, 0.0),
        call(*states, [f(3, 3), f(1, 3)]),
        sequences(cell, directions),
        tol=16,
        gtol=16,
        bad=(
            (call(*states, [f(3, 2), f(1, 2)]), InvalidType, 'shape'),
            (call(*states, [f(3, 3)]), (InvalidType, ValueError), 'hx|first state'),
            (call(*states, [f(3, 3), f(1, 2)]), InvalidType, 'shape'),
            (call(*states, []), (InvalidType, ValueError), 'xs'),
            (call(*states, f(2, 3, 3)), TypeError, 'xs'),
            (too_much_dropout, ValueError, 'dropout'),
        ),
    )


_BAD = ((call(f(2, 2)), InvalidType, r'W\.shape'), (call(own('int32', 2, 3)), InvalidType, 'dtype'))
_CELL = (call(f(2, 2), f(2, 2), f(2, 2)), InvalidType, r'W\.shape')

ROWS = [
    Row('LSTM', lambda: L.LSTM(3, 2), call(f(3, 3), f(2, 3)), lambda p, *xs: lstm_steps(p, *xs),
        run=steps, bad=(_BAD[0],)),
    Row('LSTM_lazy', lambda: L.LSTM(None, 2), call(f(2, 3), f(2, 3)), lstm_steps, run=steps),
    Row('StatelessLSTM', lambda: L.StatelessLSTM(3, 2), call(f(2, 2), f(2, 2), f(2, 3)), lstm_step,
        bad=(_CELL,)),
    Row('StatefulZoneoutLSTM', lambda: L.StatefulZoneoutLSTM(3, 2), call(f(2, 3), f(2, 3)),
        lstm_steps, run=steps, train=False, random=True, bad=(_BAD[0],)),
    Row('StatefulPeepholeLSTM', lambda: L.StatefulPeepholeLSTM(3, 2), call(f(2, 3), f(2, 3)),
        peephole, run=steps, bad=(_BAD[0],)),
    *(Row(name, make, call(f(2, 3), f(2, 3)), by_steps(step), run=steps, bad=bad)
      for name, make, step, bad in (
          ('GRU', lambda: L.GRU(3, 2), gru_step, _BAD),
          ('StatefulGRU', lambda: L.StatefulGRU(3, 2), gru_step, _BAD),
          ('StatefulMGU', lambda: L.StatefulMGU(3, 2), mgu_step, (_BAD[0],)))),
    Row('StatelessGRU', lambda: L.StatelessGRU(3, 2), call(f(2, 2), f(2, 3)), gru_step,
        bad=((call(f(2, 2), f(2, 2)), InvalidType, r'W\.shape'),)),
    Row('StatelessMGU', lambda: L.StatelessMGU(3, 2), call(f(2, 2), f(2, 3)), mgu_step,
        bad=((call(f(2, 2), f(2, 2)), InvalidType, r'W\.shape'),)),
    Row('ChildSumTreeLSTM', lambda: L.ChildSumTreeLSTM(3, 2), call(*[f(2, 2)] * 4, f(2, 3)),
        child_sum, bad=((call(f(2, 2), f(2, 3)), ValueError, 'arguments'),
                        (call(*[f(2, 2)] * 5), InvalidType, r'W\.shape'))),
    Row('NaryTreeLSTM', lambda: L.NaryTreeLSTM(3, 2), call(*[f(2, 2)] * 4, f(2, 3)), n_ary,
        bad=((call(f(2, 2), f(2, 3)), ValueError, 'arguments'),
             (call(*[f(2, 2)] * 5), InvalidType, r'W\.shape'))),
    *(n_step_row(bi, name, cell) for bi in ('', 'Bi')
      for name, cell in (('LSTM', 'lstm'), ('GRU', 'gru'), ('RNNTanh', 'tanh'),
                         ('RNNReLU', 'relu'))),
]  # fmt: skip
