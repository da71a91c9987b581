"""Rows of chainer.functions.rnn."""

import numpy as np
from functions.cases._table import Case, InvalidType, call, f, own
from scipy.special import expit as sigmoid


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


CASES = [
    Case('lstm', ref=lstm, cls='rnn.lstm.LSTM', tol=4, gtol=2,
         calls=[call(f(3, 2), f(3, 8)), call(f(3, 2), f(2, 8)), call(f(3, 2, 2), f(3, 8, 2)),
                call(f(3, 2), f(0, 8)), call(f(0, 2), f(0, 8))],
         bad=[(call(f(2, 3), f(3, 12)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 8)), InvalidType, 'shape'),
              (call(f(2, 3, 2), f(2, 12, 3)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 12, 1)), InvalidType, 'ndim'),
              (call(f(3), f(12)), InvalidType, 'ndim'),
              (call(f(2, 3), own('float16', 2, 12)), InvalidType, 'dtype')]),
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
              (call(f(2, 3), own('float16', 2, 3), f(2, 12), f(2, 12)), InvalidType, 'dtype')]),
    Case('tree_lstm', ref=tree_lstm, cls='rnn.tree_lstm.TreeLSTM', tol=4, gtol=2,
         calls=[call(f(3, 2), f(3, 2), f(3, 10)), call(f(3, 2), f(3, 8)),
                call(f(3, 2), f(3, 2), f(3, 2), f(3, 12)),
                call(f(3, 2, 2), f(3, 2, 2), f(3, 10, 2)), call(f(0, 2), f(0, 8))],
         bad=[(call(f(2, 3), f(2, 3), f(2, 12)), InvalidType, 'shape'),
              (call(f(2, 3), f(2, 3), f(1, 15)), InvalidType, 'shape'),
              (call(f(2, 3), f(1, 3), f(2, 15)), InvalidType, 'shape'),
              (call(f(2, 3), own('float16', 2, 12)), InvalidType, 'dtype'),
              (call(f(3), f(12)), InvalidType, 'ndim'), (call(f(2, 12)), InvalidType, 'size'),
              (call(), TypeError, 'input')]),
]  # fmt: skip
