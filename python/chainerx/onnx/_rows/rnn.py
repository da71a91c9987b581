"""Recurrent layers."""

from __future__ import annotations

import typing as tp

import chainerx as chx
from chainerx.onnx._routine import composed


def _gates(x: tp.Any, n: int) -> list[tp.Any]:
    """The gates of units, which lie side by side."""
    return [x[:, i::n] for i in range(n)]


@composed('lstm')
def _(c: tp.Any, x: tp.Any) -> tp.Any:
    a, i, f, o = _gates(x, 4)
    m, n = x.shape[0], c.shape[0]
    active = c if int(m) == int(n) else c[:m]
    new = chx.tanh(a) * chx.sigmoid(i) + chx.sigmoid(f) * active
    h = chx.sigmoid(o) * chx.tanh(new)
    return (new if int(m) == int(n) else chx.concatenate([new, c[m:]], 0)), h


@composed('slstm')
def _(c1: tp.Any, c2: tp.Any, x1: tp.Any, x2: tp.Any) -> tp.Any:
    a1, i1, f1, o1 = _gates(x1, 4)
    a2, i2, f2, o2 = _gates(x2, 4)
    c = chx.tanh(a1) * chx.sigmoid(i1) + chx.sigmoid(f1) * c1
    c = c + chx.tanh(a2) * chx.sigmoid(i2) + chx.sigmoid(f2) * c2
    return c, chx.sigmoid(o1 + o2) * chx.tanh(c)


@composed('tree_lstm')
def _(*args: tp.Any) -> tp.Any:
    *cells, x = args
    n = 3 + len(cells)
    units = int(x.shape[1]) // n
    gates = [x[:, k * units : (k + 1) * units] for k in range(n)]
    c = chx.tanh(gates[0]) * chx.sigmoid(gates[1])
    for cell, gate in zip(cells, gates[3:], strict=True):
        c = c + chx.sigmoid(gate) * cell
    return c, chx.sigmoid(gates[2]) * chx.tanh(c)


# Over sequences: a step after the other, as their number is that of a list.


def _linear(x: tp.Any, w: tp.Any, b: tp.Any) -> tp.Any:
    return chx.linear(x, w, b)


def _lstm_step(x: tp.Any, h: tp.Any, c: tp.Any, ws: tp.Any, bs: tp.Any) -> tp.Any:
    i, f, a, o = (_linear(x, ws[k], bs[k]) + _linear(h, ws[4 + k], bs[4 + k]) for k in range(4))
    c = chx.sigmoid(f) * c + chx.sigmoid(i) * chx.tanh(a)
    return chx.sigmoid(o) * chx.tanh(c), c


def _gru_step(x: tp.Any, h: tp.Any, c: tp.Any, ws: tp.Any, bs: tp.Any) -> tp.Any:
    r = chx.sigmoid(_linear(x, ws[0], bs[0]) + _linear(h, ws[3], bs[3]))
    z = chx.sigmoid(_linear(x, ws[1], bs[1]) + _linear(h, ws[4], bs[4]))
    n = chx.tanh(_linear(x, ws[2], bs[2]) + r * _linear(h, ws[5], bs[5]))
    return (1 - z) * n + z * h, None


def _rnn_step(activation: str) -> tp.Any:
    function = chx.tanh if activation == 'tanh' else chx.relu

    def step(x: tp.Any, h: tp.Any, c: tp.Any, ws: tp.Any, bs: tp.Any) -> tp.Any:
        return function(_linear(x, ws[0], bs[0]) + _linear(h, ws[1], bs[1])), None

    return step


def _direction(
    step: tp.Any, h: tp.Any, c: tp.Any, ws: tp.Any, bs: tp.Any, xs: list[tp.Any], back: bool
) -> tuple[tp.Any, tp.Any, list[tp.Any]]:
    outs = []
    for x in xs[::-1] if back else xs:
        n = int(x.shape[0])
        is_whole = n == int(h.shape[0])
        active, cells = (h, c) if is_whole else (h[:n], None if c is None else c[:n])
        y, new = step(x, active, cells, ws, bs)
        outs.append(y)
        if is_whole:
            h, c = y, new
        else:
            h = chx.concatenate([y, h[n:]], 0)
            c = None if c is None else chx.concatenate([new, c[n:]], 0)
    return h, c, outs[::-1] if back else outs


def _layers(
    step: tp.Any, n: int, hx: tp.Any, cx: tp.Any, ws: tp.Any, bs: tp.Any, xs: tp.Any, ways: int
) -> tuple[tp.Any, tp.Any, list[tp.Any]]:
    hs, cs = [], []
    xs = list(xs)
    for layer in range(n):
        parts = []
        for way in range(ways):
            k = layer * ways + way
            c = None if cx is None else cx[k]
            h, c, outs = _direction(step, hx[k], c, ws[k], bs[k], xs, way == 1)
            hs.append(h)
            cs.append(c)
            parts.append(outs)
        xs = parts[0]
        if ways == 2:
            xs = [chx.concatenate(pair, 1) for pair in zip(*parts, strict=True)]
    return chx.stack(hs), None if cx is None else chx.stack(cs), xs


def _register(ways: int, prefix: str) -> None:
    def lstm(n_layers: int, hx: tp.Any, cx: tp.Any, ws: tp.Any, bs: tp.Any, xs: tp.Any) -> tp.Any:
        return _layers(_lstm_step, n_layers, hx, cx, ws, bs, xs, ways)

    def gru(n_layers: int, hx: tp.Any, ws: tp.Any, bs: tp.Any, xs: tp.Any) -> tp.Any:
        h, _, ys = _layers(_gru_step, n_layers, hx, None, ws, bs, xs, ways)
        return h, ys

    def rnn(
        n_layers: int, hx: tp.Any, ws: tp.Any, bs: tp.Any, xs: tp.Any, activation: str = 'tanh'
    ) -> tp.Any:
        h, _, ys = _layers(_rnn_step(activation), n_layers, hx, None, ws, bs, xs, ways)
        return h, ys

    composed(f'n_step_{prefix}lstm')(lstm)
    composed(f'n_step_{prefix}gru')(gru)
    composed(f'n_step_{prefix}rnn')(rnn)


_register(1, '')
_register(2, 'bi')
