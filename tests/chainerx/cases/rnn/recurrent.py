"""Recurrent networks. Longer and wider ones, for blocks and threads, are in test_recurrent.py."""

import chainerx as chx
import numpy as np
from cases._table import FLOATS, Case, call, f
from scipy.special import expit as sigmoid

GATES = {'lstm': 4, 'gru': 3, 'tanh': 1, 'relu': 1}


def step(cell, w, b, x, h, c):
    gates = GATES[cell]
    p = [x @ w[k].T + b[k] for k in range(gates)]
    q = [h @ w[gates + k].T + b[gates + k] for k in range(gates)]
    if cell == 'lstm':
        i, f, a, o = (p[k] + q[k] for k in range(4))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(a)
        return sigmoid(o) * np.tanh(c), c
    if cell == 'gru':
        keep = sigmoid(p[1] + q[1])
        n = np.tanh(p[2] + sigmoid(p[0] + q[0]) * q[2])
        return (1 - keep) * n + keep * h, c
    z = p[0] + q[0]
    return np.tanh(z) if cell == 'tanh' else np.maximum(z, 0), c


def n_step(cell, directions, n_layers, hx, cx, ws, bs, xs):
    hy, cy = np.array(hx), np.array(hx if cx is None else cx)
    for layer in range(n_layers):
        outputs = []
        for direction in range(directions):
            i = layer * directions + direction
            h, c = hy[i], cy[i]
            ys = [None] * len(xs)
            for t in range(len(xs))[:: -1 if direction else 1]:
                n = len(xs[t])
                h[:n], c[:n] = step(cell, ws[i], bs[i], xs[t], h[:n].copy(), c[:n].copy())
                ys[t] = h[:n].copy()
            outputs.append(ys)
        xs = [np.concatenate(y, 1) for y in zip(*outputs, strict=True)]
    return (hy, *xs) if cx is None else (hy, cy, *xs)


def parameters(cell, n_layers, directions, features, units):
    """Weights and biases in the form of the rows."""
    gates = GATES[cell]
    ws = [
        [
            f(units, units if j >= gates else features if layer == 0 else directions * units)
            for j in range(2 * gates)
        ]
        for layer in range(n_layers)
        for _ in range(directions)
    ]
    return ws, [[f(units) for _ in w] for w in ws]


def arguments(cell, directions, n_layers, sizes, features, units, n=None, **kw):
    n = (sizes[0] if sizes else 1) if n is None else n
    ws, bs = parameters(cell, n_layers, directions, features, units)
    states = [f(n_layers * directions, n, units) for _ in range(2 if cell == 'lstm' else 1)]
    return call(n_layers, *states, ws, bs, [f(size, features) for size in sizes], **kw)


def flat(module, name):
    """A function whose results are flattened to one tuple."""

    def call_flat(*args, **kw):
        *states, ys = getattr(module, name)(*args, **kw)
        return (*states, *ys)

    return call_flat


def error_calls(cell, directions):
    """Invalid calls, and their error messages."""
    n, good = directions, arguments(cell, directions, 1, (2, 1), 3, 2)
    *states, ws, bs, xs = good.args[1:]
    others = states[1:]
    name = 'DimensionError'

    def calls(n_layers=1, hx=states[0], others=others, ws=ws, bs=bs, xs=xs):
        return call(n_layers, hx, *others, ws, bs, xs)

    yield calls(0), name, 'n_layers is 0, expected at least 1'
    yield calls(2), name, rf'hx.shape is \({n}, 2, 2\), .* n is 2 layers times {n} directions'
    yield calls(2**62), name, 'hx.shape'
    yield calls(hx=f(n, 2)), name, r'hx.shape is'
    yield calls(xs=[f(1, 3), f(2, 3)]), name, r'xs\[1\].shape\[0\] is 2, expected at most 1, as in'
    yield calls(xs=[f(3, 3)]), name, r'xs\[0\].shape\[0\] is 3, expected at most 2, that of hx'
    yield calls(xs=[f(2, 3), f(2, 4)]), name, r'xs\[1\].shape\[1\] is 4, expected 3'
    yield calls(xs=[f(2, 3, 1)]), name, r'xs\[0\].shape is \(2, 3, 1\)'
    yield calls(xs=[f(2, 4)]), name, r'ws\[0\]\[0\].shape is \(2, 3\), expected \(2, 4\)'
    yield calls(ws=[*ws, ws[0]]), name, f'ws has {n + 1} lists, expected {n}'
    yield calls(bs=[]), name, f'bs has 0 lists, expected {n}'
    short = [ws[0][:-1], *ws[1:]]
    yield calls(ws=short), name, rf'ws\[0\] has {len(ws[0]) - 1} arrays, expected {len(ws[0])}'
    yield calls(bs=[*bs[:-1], [*bs[0], f(2)]]), name, rf'bs\[{n - 1}\] has {len(ws[0]) + 1} arrays'
    wide = [[*ws[0][:-1], f(2, 3)], *ws[1:]]
    yield calls(ws=wide), name, r'ws\[0\]\[.\].shape is \(2, 3\), expected \(2, 2\)'
    yield calls(bs=[[f(3), *bs[0][1:]], *bs[1:]]), name, r'bs\[0\]\[0\].shape is \(3,\)'
    if cell == 'lstm':
        yield (
            calls(others=[f(n, 1, 2)]),
            name,
            rf'cx.shape is \({n}, 1, 2\), expected \({n}, 2, 2\)',
        )
    yield calls(ws=ws[0]), 'TypeError', 'ws'
    yield calls(xs=f(2, 2, 3)), 'TypeError', 'xs'
    yield call(1.5, *good.args[1:]), 'TypeError', ''


def case(name, cell, directions, **kw):
    def reference(n_layers, *rest, activation='tanh'):
        hx, *cx, ws, bs, xs = rest
        kind = activation if cell == 'tanh' else cell
        return n_step(kind, directions, n_layers, hx, cx[0] if cx else None, ws, bs, xs)

    def one(*args, **kw):
        return arguments(cell, directions, *args, **kw)

    return Case(
        name,
        reference,
        fn=flat(chx, name),
        calls=[
            one(1, (2, 1), 1, 2),
            one(2, (1, 1), 1, 1),
            one(1, (1,), 2, 1, n=2),
            one(1, (1, 0), 0, 1),
            one(1, (0,), 1, 1),
            one(1, (1,), 1, 0),
        ]
        + ([one(1, (2, 1), 1, 2, activation='relu')] if cell == 'tanh' else []),
        dtypes=FLOATS,
        multi=tuple,
        tol=16,
        gtol=16,
        huge=False,
        sums='product',
        errors=list(error_calls(cell, directions)),
        **kw,
    )


def lstm(c, x):
    a, i, f, o = (x[:, n::4] for n in range(4))
    m = len(x)
    y = c.copy()
    y[:m] = np.tanh(a) * sigmoid(i) + sigmoid(f) * c[:m]
    return y, sigmoid(o) * np.tanh(y[:m])


def slstm(c1, c2, x1, x2):
    c = lstm(c1, x1)[0] + lstm(c2, x2)[0]
    return c, sigmoid(x1[:, 3::4] + x2[:, 3::4]) * np.tanh(c)


def tree_lstm(*args):
    *cells, x = args
    a, i, o, *forget = np.split(x, 3 + len(cells), 1)
    c = np.tanh(a) * sigmoid(i) + sum(sigmoid(g) * c for g, c in zip(forget, cells, strict=True))
    return c, sigmoid(o) * np.tanh(c)


CASES = [
    Case(
        'lstm',
        lstm,
        sig='c, x',
        calls=[
            call(f(3, 2), f(3, 8)),
            call(f(3, 2), f(2, 8)),
            call(f(2, 1, 2), f(2, 4, 2)),
            call(f(2, 2), f(0, 8)),
            call(f(0, 2), f(0, 8)),
            call(f(2, 0), f(2, 0)),
        ],
        dtypes=FLOATS,
        multi=tuple,
        tol=8,
        gtol=8,
        errors=[
            (call(f(2, 3), f(3, 12)), 'DimensionError', r'x.shape is \(3, 12\).*\(2, 3\)'),
            (call(f(2, 3), f(2, 8)), 'DimensionError', '4 gates'),
            (call(f(2, 3), f(2, 13)), 'DimensionError', '4 gates'),
            (call(f(2, 3, 2), f(2, 12, 3)), 'DimensionError', r'\(2, 12, 3\)'),
            (call(f(2, 3), f(2, 12, 1)), 'DimensionError', r'\(2, 12, 1\)'),
            (call(f(3), f(12)), 'DimensionError', r'\(12,\)'),
        ],
    ),
    Case(
        'slstm',
        slstm,
        sig='c1, c2, x1, x2',
        calls=[
            call(f(2, 2), f(2, 2), f(2, 8), f(2, 8)),
            call(f(1, 1, 2), f(1, 1, 2), f(1, 4, 2), f(1, 4, 2)),
            call(f(0, 2), f(0, 2), f(0, 8), f(0, 8)),
        ],
        dtypes=FLOATS,
        multi=tuple,
        tol=8,
        gtol=8,
        errors=[
            (call(f(2, 3), f(1, 3), f(2, 12), f(2, 12)), 'DimensionError', r'c2.shape is \(1, 3\)'),
            (
                call(f(2, 3), f(2, 3), f(1, 12), f(2, 12)),
                'DimensionError',
                r'x1.shape is \(1, 12\)',
            ),
            (call(f(2, 3), f(2, 3), f(2, 12), f(2, 8)), 'DimensionError', r'x2.shape is \(2, 8\)'),
        ],
    ),
    Case(
        'tree_lstm',
        tree_lstm,
        calls=[
            call(f(2, 2), f(2, 2), f(2, 10)),
            call(f(2, 2), f(2, 8)),
            call(f(1, 1, 2), f(1, 1, 2), f(1, 1, 2), f(1, 6, 2)),
            call(f(0, 2), f(0, 8)),
        ],
        dtypes=FLOATS,
        multi=tuple,
        tol=8,
        gtol=8,
        errors=[
            (call(f(2, 3), f(2, 3), f(2, 12)), 'DimensionError', '5 gates'),
            (call(f(2, 3), f(1, 3), f(2, 15)), 'DimensionError', r'\(1, 3\), expected \(2, 3\)'),
            (call(f(2, 12)), 'DimensionError', 'no cell'),
            (call(), 'DimensionError', 'no arrays'),
        ],
    ),
    case('n_step_lstm', 'lstm', 1),
    case('n_step_bilstm', 'lstm', 2),
    case('n_step_gru', 'gru', 1),
    case('n_step_bigru', 'gru', 2),
    case('n_step_rnn', 'tanh', 1),
    case('n_step_birnn', 'tanh', 2),
]
