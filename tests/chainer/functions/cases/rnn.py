"""Rows of chainer.functions.rnn."""

import chainer.functions as F
import numpy as np
from functions.cases._table import Case, InvalidType, call, f, own
from scipy.special import expit as sigmoid

from cases.rnn.recurrent import flat, n_step, parameters


def lstm(c_prev, x):
    a, i, f_, o = (x[:, n::4] for n in range(4))
    m = len(x)
    c = c_prev.copy()
    c[:m] = np.tanh(a) * sigmoid(i) + sigmoid(f_) * c_prev[:m]
    return c, sigmoid(o) * np.tanh(c[:m])


def slstm(c1, c2, x1, x2):
    c = lstm(c1, x1)[0] + lstm(c2, x2)[0]
    return c, sigmoid(x1[:, 3::4] + x2[:, 3::4]) * np.tanh(c)


def tree_lstm(*inputs):
    *cells, x = inputs
    a, i, o, *forget = np.split(x, 3 + len(cells), 1)
    c = np.tanh(a) * sigmoid(i) + sum(sigmoid(g) * c for g, c in zip(forget, cells, strict=True))
    return c, sigmoid(o) * np.tanh(c)


def n_step_case(name, cell, cls, directions):
    """A row of a function over whole sequences; chainerx's functions have more parameters."""
    n_states = 2 if cell == 'lstm' else 1
    more = {'activation': cell} if cell in ('tanh', 'relu') else {}

    def reference(n_layers, dropout_ratio, hx, *rest, activation=None):
        *cx, ws, bs, xs = rest
        return n_step(cell, directions, n_layers, hx, cx[0] if cx else None, ws, bs, xs)

    def one(n_layers, sizes, features, units, n=None, shift=0):
        ws, bs = parameters(cell, n_layers, directions, features, units)
        states = [f(n_layers * directions, n or sizes[0], units) for _ in range(n_states)]
        xs = [f(size, features + shift) for size in sizes]
        return call(n_layers, 0.0, *states, ws, bs, xs, **more)

    good = one(1, (2, 1), 1, 2)
    *others, ws, bs, xs = good.args[2:]
    short = [ws[0][:-1], *ws[1:]]
    return Case(
        name,
        ref=reference,
        fn=flat(F, name),
        cls=cls,
        tol=16,
        gtol=16,
        attributes={'n_layers': 1},
        big=one(1, (16, 16), 16, 32),
        calls=[good, one(2, (1, 1), 1, 1), one(1, (1, 0), 2, 1, 2)],
        bad=[
            (one(1, (1, 2), 1, 2, 2), InvalidType, r'xs\[1\]'),
            (one(1, (3,), 1, 2, 2), InvalidType, r'hx'),
            (one(1, (2,), 1, 2, shift=1), InvalidType, r'ws\[0\]\[0\]'),
            (call(0, 0.0, *good.args[2:], **more), ValueError, 'n_layers is 0'),
            (call(1, 2.0, *good.args[2:], **more), ValueError, 'dropout_ratio is 2.0'),
            (call(1, 0.0, *others, ws * 2, bs, xs, **more), ValueError, 'ws has'),
            (call(1, 0.0, *others, short, bs, xs, **more), ValueError, r'ws\[0\] has'),
            (call(1, 0.0, *others, ws, bs, f(2, 2, 1), **more), TypeError, 'xs'),
        ],
    )


N_STEP = [
    n_step_case(
        f'n_step_{bi}{name}', cell, f'rnn.n_step_{name}.NStep{bi.title()}{cls}', 1 + (bi == 'bi')
    )
    for bi in ('', 'bi')
    for name, cell, cls in (
        ('lstm', 'lstm', 'LSTM'),
        ('gru', 'gru', 'GRU'),
        ('rnn', 'tanh', 'RNNTanh'),
        ('rnn', 'relu', 'RNNReLU'),
    )
]

CASES = [
    *N_STEP,
    Case('lstm', ref=lstm, cls='rnn.lstm.LSTM', tol=4, gtol=2,
         calls=[call(f(3, 2), f(3, 8)), call(f(3, 2), f(2, 8)), call(f(3, 2, 2), f(3, 8, 2)),
                call(f(3, 2), f(0, 8)), call(f(0, 2), f(0, 8))],
         bad=[(call(f(2, 3), f(3, 12)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 8)), InvalidType, 'shape'),
              (call(f(2, 3, 2), f(2, 12, 3)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 12, 1)), InvalidType, 'ndim'),
              (call(f(3), f(12)), InvalidType, 'ndim'),
              (call(f(2, 3), own('float16', 2, 12)), InvalidType, 'dtype', 'numpy')]),
    Case('slstm', ref=slstm, cls='rnn.slstm.SLSTM', tol=4, gtol=2,
         calls=[call(f(3, 2), f(3, 2), f(3, 8), f(3, 8)),
                call(f(3, 2, 2), f(3, 2, 2), f(3, 8, 2), f(3, 8, 2)),
                call(f(0, 2), f(0, 2), f(0, 8), f(0, 8))],
         bad=[(call(f(2, 3), f(1, 3), f(2, 12), f(2, 12)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 3), f(1, 12), f(2, 12)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 3), f(2, 12), f(2, 8)), InvalidType, 'shape'),
              (call(f(2, 3, 1), f(2, 3, 1), f(2, 12, 1), f(2, 12, 2)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 3), f(2, 12), f(2, 12, 1)), InvalidType, 'ndim'),
              (call(f(3), f(3), f(12), f(12)), InvalidType, 'ndim'),
              (call(f(2, 3), own('float16', 2, 3), f(2, 12), f(2, 12)), InvalidType, 'dtype',
               'numpy')]),
    Case('tree_lstm', ref=tree_lstm, cls='rnn.tree_lstm.TreeLSTM', tol=4, gtol=2,
         calls=[call(f(3, 2), f(3, 2), f(3, 10)), call(f(3, 2), f(3, 8)),
                call(f(3, 2), f(3, 2), f(3, 2), f(3, 12)),
                call(f(3, 2, 2), f(3, 2, 2), f(3, 10, 2)), call(f(0, 2), f(0, 8))],
         bad=[(call(f(2, 3), f(2, 3), f(2, 12)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 3), f(1, 15)), InvalidType, 'shape'),
              (call(f(2, 3), f(1, 3), f(2, 15)), InvalidType, 'shape'),
              (call(f(2, 3), own('float16', 2, 12)), InvalidType, 'dtype', 'numpy'),
              (call(f(3), f(12)), InvalidType, 'ndim'), (call(f(2, 12)), InvalidType, 'size'),
              (call(), TypeError, 'input')]),
]  # fmt: skip
