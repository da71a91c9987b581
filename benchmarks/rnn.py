"""Recurrent networks over sequences of 50 steps, forward and backward, against PyTorch.

`chainerx.n_step_*` take lists of steps and weights, as Chainer does; PyTorch's modules take one
array and concatenated weights. The concatenation is timed. Both are first checked to give the same
results and gradients.
"""

import functools

import chainerx
import numpy as np
import torch
from harness import forward_and_step, main

STEPS = 50
GATES = {'LSTM': 4, 'GRU': 3, 'RNN': 1}
# Batch, units, layers, bidirectional.
SIZES = [
    (1, 16, 1, False),
    (32, 512, 1, False),
    (32, 512, 2, False),
    (32, 512, 1, True),
]


class Peers:
    """The same network in both libraries."""

    def __init__(self, kind, batch, units, layers, both):
        self.rng = np.random.default_rng(0)
        self.kind, directions = kind, 1 + both
        n, gates = layers * directions, GATES[kind]
        self.module = getattr(torch.nn, kind)(units, units, layers, bidirectional=both)
        inputs = [units if i < directions else directions * units for i in range(n)]
        scale = units**-0.5
        ws = [
            [self.draw(units, ins if j < gates else units, scale=scale) for j in range(2 * gates)]
            for ins in inputs
        ]
        bs = [[self.draw(units, scale=scale) for _ in range(2 * gates)] for _ in range(n)]
        with torch.no_grad():
            for i in range(n):
                suffix = f'_l{i // directions}' + '_reverse' * (i % directions)
                for name, arrays in (('weight', ws[i]), ('bias', bs[i])):
                    for where, half in (('ih', arrays[:gates]), ('hh', arrays[gates:])):
                        parameter = getattr(self.module, f'{name}_{where}{suffix}')
                        parameter[...] = torch.tensor(np.concatenate(half))
        x, gy = self.draw(STEPS, batch, units), self.draw(STEPS, batch, directions * units)
        states = [self.draw(n, batch, units) for _ in range(2 if kind == 'LSTM' else 1)]
        self.ws, self.bs = ([[chainerx.array(v) for v in row] for row in rows] for rows in (ws, bs))
        self.leaves = [v for row in (*self.ws, *self.bs) for v in row]
        self.states, self.xs, self.gys = (list(map(chainerx.array, v)) for v in (states, x, gy))
        self.function = getattr(chainerx, f'n_step_{"bi" * both}{kind.lower()}')
        self.x, self.gy = torch.tensor(x), torch.tensor(gy)
        states = tuple(map(torch.tensor, states))
        self.first = states if kind == 'LSTM' else states[0]
        self.parameters = list(self.module.parameters())

    def draw(self, *shape, scale=1.0):
        return self.rng.uniform(-scale, scale, shape).astype('f')

    def ours(self):
        return self.function(
            len(self.ws) // self.directions(), *self.states, self.ws, self.bs, self.xs
        )[-1]

    def directions(self):
        return 2 if self.module.bidirectional else 1

    def our_step(self):
        return chainerx.grad(self.ours(), self.leaves, grad_outputs=self.gys)

    def theirs(self):
        return self.module(self.x, self.first)[0]

    def their_step(self):
        return torch.autograd.grad(self.theirs(), self.parameters, self.gy)

    def check(self):
        ys = np.stack([chainerx.to_numpy(y) for y in self.ours()])
        np.testing.assert_allclose(ys, self.theirs().detach().numpy(), atol=1e-4)
        for v in self.leaves:
            v.require_grad()
        ours = sum(float(chainerx.to_numpy(g * g).sum()) for g in self.our_step())
        theirs = sum(float((g * g).sum()) for g in self.their_step())
        np.testing.assert_allclose(ours, theirs, rtol=1e-3)


def rows(bench):
    """Forward without a graph, and forward with backward, for each kind and size."""
    for kind in GATES:
        for batch, units, layers, both in SIZES:
            name = f'{kind}, {units} units, batch {batch}'
            name += f', {layers} layers' * (layers > 1) + ', both directions' * both
            peers = functools.partial(Peers, kind, batch, units, layers, both)
            forward_and_step(bench, name, peers)

    for batch in (1, 8):
        one_step(bench, batch)


def one_step(bench, batch, units=512):
    """One decoding step, which is bound by the bandwidth of reading the weights."""
    rng = np.random.default_rng(0)
    cell = torch.nn.LSTMCell(units, units)
    x, h, c = (rng.uniform(-1, 1, (batch, units)).astype('f') for _ in range(3))
    weights = [np.split(w.detach().numpy(), 4) for w in (cell.weight_ih, cell.weight_hh)]
    biases = [np.split(b.detach().numpy(), 4) for b in (cell.bias_ih, cell.bias_hh)]
    ws, bs = ([[chainerx.array(v) for half in a for v in half]] for a in (weights, biases))
    ours = {'f': chainerx.n_step_lstm, 'ws': ws, 'bs': bs, 'xs': [chainerx.array(x)]}
    ours |= {'h': chainerx.array(h[None]), 'c': chainerx.array(c[None])}
    theirs = {'cell': cell, 'x': torch.tensor(x), 'state': (torch.tensor(h), torch.tensor(c))}
    with torch.no_grad():
        expected = cell(theirs['x'], theirs['state'])[0].numpy()
    found = chainerx.n_step_lstm(1, ours['h'], ours['c'], ws, bs, ours['xs'])[0]
    np.testing.assert_allclose(chainerx.to_numpy(found)[0], expected, atol=1e-5)
    bench.row(
        f'LSTM, {units} units, one step of {batch}',
        {'chainerx': 'f(1, h, c, ws, bs, xs)', 'torch': 'cell(x, state)'},
        {'chainerx': ours, 'torch': theirs},
        scope={'chainerx': chainerx.no_backprop_mode, 'torch': torch.no_grad},
    )


if __name__ == '__main__':
    main(rows, 'rnn', threads=(1, 2), rounds=5, round_seconds=0.02)
