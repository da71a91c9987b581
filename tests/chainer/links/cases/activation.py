"""Rows of chainer.links.activation."""

import numpy as np
from functions.cases.activation import channels, rectified, swish
from functions.cases.connection import linear
from links.cases._table import InvalidType, L, Row, c, call, f

_X = np.ones((2, 4), 'f')
_MASK = np.arange(24).reshape(2, 3, 4) % 3 == 0


def maxout(p, x):
    return linear(x, p['linear/W'], p.get('linear/b')).reshape(len(x), 3, 2).max(2)


def dropconnect(p, x, train, mask, *rest):
    return np.einsum('noi,ni->no', mask * p['W'] * 2, x) + p['b']


ROWS = [
    Row('Maxout', lambda: L.Maxout(4, 3, 2), call(f(2, 4)), maxout,
        bad=((call(f(2, 3)), InvalidType, 'W.shape'),
             (lambda: L.Maxout(4, 3, 0), ValueError, 'pool_size is 0'))),
    Row('Maxout_nobias', lambda: L.Maxout(None, 3, 2, initial_bias=None), call(f(2, 4)), maxout),
    Row('PReLU', lambda: L.PReLU((4,)), call(f(3, 4, avoid=(0,))),
        lambda p, x: rectified(x, channels(p['W'], x)),
        bad=((call(f(2, 3)), InvalidType, 'W.shape'),)),
    Row('PReLU_one', L.PReLU, call(f(3, 4, avoid=(0,))), lambda p, x: rectified(x, p['W'])),
    Row('SimplifiedDropconnect', lambda: L.SimplifiedDropconnect(4, 3),
        call(f(2, 4), True, c(_MASK, 'bool')), dropconnect,
        bad=((call(f(2, 5)), InvalidType, 'W.shape'),
             (call(f(2, 4), True, c(_MASK[:, :2], 'bool')), (InvalidType, ValueError), 'mask'),
             (lambda: L.SimplifiedDropconnect(4, 3, 1.5)(_X), ValueError, 'ratio is 1.5'))),
    Row('SimplifiedDropconnect_test', lambda: L.SimplifiedDropconnect(None, 3),
        call(f(2, 4), False), lambda p, x, train: linear(x, p['W'], p['b'])),
    Row('Swish', lambda: L.Swish((4,)), call(f(3, 4)), lambda p, x: swish(x, p['beta']),
        bad=((call(f(2, 3)), InvalidType, 'beta.shape'),)),
    Row('Swish_lazy', lambda: L.Swish(None, 1.5), call(f(3, 4)),
        lambda p, x: swish(x, p['beta'])),
]  # fmt: skip
